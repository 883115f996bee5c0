"""The source of a page without white space that no browser shows, so that tests hold however templates are laid out."""

import re

_BLOCKS = (
    "html|head|body|title|meta|link|script|style|main|header|footer|nav|section|article|aside|div|p|ul|ol|li|dl|dt|dd|h[1-6]"
    "|table|thead|tbody|tfoot|tr|td|th|form|fieldset|legend|details|summary|blockquote|select|option|optgroup|template|br|hr"
)
_KEPT = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)", re.DOTALL)
_TAG = re.compile(r"<[a-zA-Z/!](?:\"[^\"]*\"|'[^']*'|[^>\"'])*>")
_BLOCK = re.compile(rf" ?(</?(?:{_BLOCKS})\b(?:\"[^\"]*\"|'[^']*'|[^>\"'])*>) ?")


def without_layout(html: str) -> str:
    """The same page: one space where there is white space, and none beside elements that begin a line of their own."""
    parts = _KEPT.split(html)
    return "".join(_short(part) for part in parts[::3]) if len(parts) == 1 else "".join(_joined(parts))


def _joined(parts: list[str]) -> list[str]:
    return [_short(part) if number % 3 == 0 else part for number, part in enumerate(parts) if number % 3 < 2]


def _short(html: str) -> str:
    one_line = re.sub(r"\s+", " ", html)
    tags = _TAG.sub(lambda tag: re.sub(r" (?=/?>)", "", tag[0]), one_line)
    return _BLOCK.sub(r"\1", tags)
