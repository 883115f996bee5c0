"""What happens in a run: the kinds of events, and how each is put to people."""
