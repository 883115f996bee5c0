"""Scripted verifiers of the generated jobs in `runs.planted_faults`, and how many faults each of them lets through."""
