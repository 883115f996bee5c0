"""Adversarial models: players for `tests.fakes.team.Team`, by role. Each says which rule it attacks."""
