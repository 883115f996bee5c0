"""Evaluations: their results next to baselines, and a finished run as a task of a suite."""
