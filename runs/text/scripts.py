"""Scripts whose letters stand directly next to the digits of a figure, as in `索赔2777元`. The ranges are written for
character classes.
"""

import re

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
"""Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Chinese and Japanese."""
TOUCHING = rf"{UNSPACED}\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"
"""These, and Hangul: Korean has spaces, but what is counted and its particles follow a figure without one."""
JOINED_LETTER = rf"[^\W\d_{TOUCHING}]"
"""A letter of any other script: next to digits it belongs to the same word or name, as in `p23` and `5km`."""
_TOUCHING = re.compile(f"[{TOUCHING}]")


def touches(character: str) -> bool:
    """Whether a character is of a script whose letters touch the figures next to them."""
    return character >= UNSPACED[0] and _TOUCHING.match(character) is not None


def has_touching(text: str) -> bool:
    """Whether a text has a character of such a script."""
    return not text.isascii() and _TOUCHING.search(text) is not None
