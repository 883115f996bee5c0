"""Citations in deliverables: links, the statements they carry, and whether the place is in the source (T8)."""
