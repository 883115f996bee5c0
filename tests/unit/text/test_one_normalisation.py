"""Texts are compared in one way: no module outside of `runs/text` folds them by itself."""

from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDING = {"casefold", "normalize"}
NO_TEXTS = {
    "runs/characters.py",
    "runs/pev/contracts.py",
    "runs/pev/files/inputs.py",
    "runs/pev/files/paths.py",
    "runs/pev/files/sensitive.py",
}
