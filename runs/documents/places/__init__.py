"""A document as it is used: its places and what people call them, how models see it, and parts of its text."""
