"""Readers: bytes of one format to a text with its layout. They run in guarded processes, so they know no Django.

Each is a module with `make(data) -> Made`, and `read(data) -> bytes`, the same packed. Both raise InvalidInput with a
clause that stands behind the file's name, such as "needs a password; save it without one".
"""
