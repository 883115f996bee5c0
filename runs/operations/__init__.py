"""Verifying the contents of an installation, backing them up and restoring them, and traces of runs."""
