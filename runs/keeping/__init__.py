"""What an installation holds: whether it is still what it was."""
