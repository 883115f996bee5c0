"""The parts of a verification: its input, pre-checks, quotes, samples and people's requests."""
