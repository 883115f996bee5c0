"""Pages that follow a run: sockets, the audience of each tab, and what they are told (D5)."""
