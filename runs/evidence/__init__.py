"""Evidence: whether a quote stands in a source, whose words these are, and results that rest on it (T1)."""
