"""Given and written files: forms of their paths, which of them are meant, and how much of them was shown."""
