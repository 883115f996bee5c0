"""Calibrations of verifiers: their rows, what they will cost, and what they have shown."""
