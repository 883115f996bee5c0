"""Pages that follow a run: sockets, the subscribers of each tab, and the messages that they get (D5)."""
