"""A conversation with a model: asking until an answer is valid, calls that repeat, the end of the window."""
