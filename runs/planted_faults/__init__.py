"""Generated jobs with a planted fault or without one, and what becomes of them when a verifier judges them."""
