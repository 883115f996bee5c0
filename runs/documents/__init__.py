"""Reads bytes of any encoding and format as text. What a file is follows from its bytes, never from its name."""
