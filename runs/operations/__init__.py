"""What an installation holds: whether it is still what it was, and a copy of it for bad days."""
