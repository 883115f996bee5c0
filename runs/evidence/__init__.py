"""Evidence: whether a quote occurs in a source, where its words come from, and results with evidence (T1)."""
