"""Documents that a run writes: each module makes one kind of file, without Django, in guarded processes."""
