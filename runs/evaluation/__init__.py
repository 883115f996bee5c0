"""Evaluation: tasks with the properties that their runs must have, run in an installation of their own and compared."""
