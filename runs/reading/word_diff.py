"""`DiffPiece` by its earlier name, for `runs.management.questions`."""

from runs.text.diff import DiffPiece as Piece

__all__ = ["Piece"]
