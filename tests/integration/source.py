"""The source of a page without white space that no browser shows, so that tests hold however templates are laid out."""

import re

_BLOCKS = (
    "html|head|body|title|meta|link|script|style|main|header|footer|nav|section|article|aside|div|p|ul|ol|li|dl|dt|dd|h[1-6]"
    "|table|thead|tbody|tfoot|tr|td|th|form|fieldset|legend|details|summary|blockquote|select|option|optgroup|template|br|hr"
)
_INSIDE = r"(?:\"[^\"]*\"|'[^']*'|[^>\"'])*"
_VERBATIM = re.compile(r"(<(?:pre|textarea|script|style)\b.*?</(?:pre|textarea|script|style)>)", re.DOTALL)
"""Elements whose text a browser keeps as it is."""
_TAG = re.compile(rf"<[a-zA-Z/!]{_INSIDE}>")
_BLOCK = re.compile(rf" ?(</?(?:{_BLOCKS})\b{_INSIDE}>) ?")


def without_layout(html: str) -> str:
    """The page with one space for all white space, and none next to elements that begin a line of their own."""
    parts = _VERBATIM.split(html)  # every second part is one of those elements
    return "".join(part if number % 2 else _without_layout(part) for number, part in enumerate(parts))


def _without_layout(html: str) -> str:
    one_line = re.sub(r"\s+", " ", html)
    tags = _TAG.sub(lambda tag: re.sub(r" (?=/?>)", "", tag[0]), one_line)
    return _BLOCK.sub(r"\1", tags)
