"""Texts that people write and that may be too long: kept whole and refused with a sentence, never cut."""

from runs.text.plural import pluralize


def too_long(text: str, limit: int, what: str = "") -> str:
    """Returns a sentence that says by how much `what` is too long; empty if it fits.

    White space around it does not count. `static/js/text_limits.js` says the same while a person types.
    """
    over = len(text.strip()) - limit
    return f"{what or 'This'} is too long by {pluralize(over, 'character')}; {limit:,} fit." if over > 0 else ""
