"""Generated plans with planted faults, verifiers that judge them, and what comes of each with and without the rules."""
