"""What in a field is hidden or may be taken for something else, in sentences for people that name the field."""

import re
import unicodedata
from collections.abc import Iterator

from runs.acts.facts import ADDRESS, strings_in
from runs.text.normalisation import LOOK_ALIKES
from runs.text.plural import list_with_and, pluralize
from runs.text.truncate import quoted
from runs.text.visible import VisiblePart, is_plain, marked

MAX_TEXT = 60
"""Characters of a text that a sentence repeats."""
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
_OVERRIDE = re.compile("\u202e([^\u202c\n]*)\u202c?")
_ENCODED = re.compile(r"\bxn--[a-z0-9-]+", re.IGNORECASE)


def warnings(label: str, value: object) -> Iterator[str]:
    """The sentences on a field with this label, each once."""
    field = f"“{label}”"
    found = dict[str, None]()
    for text in strings_in(value):
        found |= dict.fromkeys(_on(field, text))
    yield from found


def scripts_of(text: str) -> list[str]:
    """The scripts of the letters of a text, such as Latin and Hebrew, in their order."""
    if text.isascii():
        return []
    names = (unicodedata.name(char, "").split(" ")[0].capitalize() for char in text if char.isalpha())
    return list(dict.fromkeys(filter(None, names)))


def mixed_scripts(text: str) -> str:
    """`Hebrew and Latin` for an address of letters of several scripts, else empty."""
    found = scripts_of(text) if ADDRESS.fullmatch(text) else []
    return list_with_and(found) if len(found) > 1 else ""


def _on(field: str, text: str) -> Iterator[str]:
    parts = [] if is_plain(text) else [part for part in marked(text) if part.sign]
    for word in (part for part in parts if part.is_word):
        yield _on_word(field, word)
    hidden = "".join(part.text for part in parts if not part.is_word)
    if turning := _TURNING.findall(hidden):
        yield _on_turning(field, text, len(turning))
    if others := len(_TURNING.sub("", hidden)):
        yield f"{field} contains {pluralize(others, 'character')} that cannot be seen; the marks below say where."
    if (scripts := mixed_scripts(text)) and not any(part.is_word for part in parts):
        yield f"{field} has an address of {scripts} letters: {quoted(text, MAX_TEXT)}."
    for encoded in _ENCODED.findall(text) if ADDRESS.fullmatch(text) else ():
        yield f"{field}: “{encoded[:MAX_TEXT]}” is an encoded form; a reader may see “{_decoded(encoded)[:MAX_TEXT]}”."


def _on_word(field: str, word: VisiblePart) -> str:
    looks = "".join(LOOK_ALIKES.get(char) or LOOK_ALIKES.get(char.lower(), char) for char in word.text)
    said = f"{field}: “{word.text[:MAX_TEXT]}” has {word.why}"
    return f"{said}, and imitates “{looks[:MAX_TEXT]}”." if looks.isascii() else f"{said}."


def _on_turning(field: str, text: str, count: int) -> str:
    hides = "hides a character that turns" if count == 1 else f"hides {count:,} characters that turn"
    sentence = f"{field} {hides} the order of letters round."
    line = next((line for line in text.split("\n") if _OVERRIDE.search(line)), "")
    sent, seen = _TURNING.sub("", line), _TURNING.sub("", _OVERRIDE.sub(lambda found: found[1][::-1], line))
    if not line or sent == seen or len(line) > MAX_TEXT:
        return sentence
    return f"{sentence} It is sent as “{sent}”, and readers may see “{seen}”."


def _decoded(encoded: str) -> str:
    try:
        return encoded[len("xn--") :].encode("ascii").decode("punycode")
    except UnicodeError:
        return encoded
