"""Shows on a page what `runs.text.visible` finds in its texts. Knows nothing of Django.

A page is finished HTML of ours, in which every text of others has been escaped or cleaned. What no one sees gets a sign
in words next to it; the character itself stays, where it moves nothing, so that what is copied is the same text. A
browser copies no sign (`.odd` in `tokens.css`).
"""

import html
import re
from collections.abc import Iterator

from runs.text.visible import Part, is_plain, marked, remarks, visible_text

MAX_SIGNS = 2_000
"""Elements that a page gets; what comes behind them is escaped, which takes a tenth of the room."""

_TOKEN = re.compile(r"""<!--.*?-->|<[a-zA-Z/!](?:[^<>"']|"[^"]*"|'[^']*')*>""", re.DOTALL)
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)")
_ATTRIBUTE = re.compile(r"""(\s(?:title|aria-label|alt|placeholder|label|data-said)=)("[^"]*"|'[^']*')""")
_VALUE = re.compile(r"""\svalue=("[^"]*"|'[^']*')""")
_IS_TYPED = re.compile(r"""^<input(?![^>]*\stype=["']?+(?!text|search|email|url))""")
_KEPT = frozenset({"script", "style", "textarea"})
"""Elements with texts that a browser does not show, or sends back as they are."""
_WITHOUT_ELEMENTS = frozenset({"title", "option", "svg"})
_IS_NOTED = '<small class="odd-note">'
_IS_SIGNED = '<span class="odd"'
_GONE = re.compile("[\0\ud800-\udfff]")
"""No reference in HTML stands for them."""


def make_visible(page: str) -> str:
    """The page or a part of it, with what people miss or may misread made visible. Applied twice it is the same."""
    if is_plain(page):
        return page
    return "".join(_Page().shown(page))


class _Page:
    def __init__(self) -> None:
        self._signs = 0
        self._typed = ""
        self._inside: list[str] = []

    def shown(self, page: str) -> Iterator[str]:
        at = 0
        for match in _TOKEN.finditer(page):
            yield self._text(page[at : match.start()])
            tag, note = self._tag(match[0])
            yield tag if page.startswith(_IS_NOTED, match.end()) else tag + note
            at = match.end()
        yield self._text(page[at:])

    def _tag(self, tag: str) -> tuple[str, str]:
        """The tag, and what is said behind it. Keeps in mind in which element that matters the next text is."""
        named = _TAG.match(tag)
        if not named:
            return tag, ""
        name = named[1].lower()
        note = ""
        if self._inside and self._inside[-1] in _KEPT | {"signed"}:
            if tag.startswith("</") and name == self._inside[-1].replace("signed", "span"):
                note = self._note() if self._inside.pop() == "textarea" else ""
        elif tag.startswith("</"):
            if self._inside and self._inside[-1] == name:
                self._inside.pop()
        elif tag.startswith(_IS_SIGNED):
            self._inside.append("signed")
        elif name in _KEPT | _WITHOUT_ELEMENTS and not tag.endswith("/>"):
            self._inside.append(name)
        if is_plain(tag):
            return tag, note
        if _IS_TYPED.match(tag) and (value := _VALUE.search(tag)):
            note = _note_on(html.unescape(value[1][1:-1]))
        return _ATTRIBUTE.sub(_attribute, tag), note

    def _text(self, text: str) -> str:
        if is_plain(text):
            return text
        inside = self._inside[-1] if self._inside else ""
        if inside == "textarea":
            self._typed = html.unescape(text)
        if inside in _KEPT or inside == "signed":
            return text
        words = html.unescape(text)
        if inside or self._signs >= MAX_SIGNS:
            return html.escape(visible_text(words))
        return "".join(map(self._part, marked(words)))

    def _note(self) -> str:
        typed, self._typed = self._typed, ""
        return _note_on(typed)

    def _part(self, part: Part) -> str:
        if not part.sign:
            return html.escape(part.text)
        self._signs += 1
        if self._signs > MAX_SIGNS:
            return html.escape(visible_text(part.text))
        why, sign = html.escape(part.why), html.escape(part.sign)
        if part.is_word:
            return f'{_IS_SIGNED} title="{why}"><bdi>{html.escape(part.text)}</bdi><b>{sign}</b></span>'
        same = "".join(_reference(char) for char in _GONE.sub("", part.text))
        return f'{_IS_SIGNED} title="{why}"><b>{sign}</b><bdi class="unseen">{same}</bdi></span>'


def _reference(char: str) -> str:
    """A character by its number; those that numbers of HTML mean otherwise, as they are."""
    return char if "\x7f" <= char <= "\x9f" else f"&#{ord(char)};"


def _attribute(match: re.Match[str]) -> str:
    quote = match[2][0]
    return f"{match[1]}{quote}{html.escape(visible_text(html.unescape(match[2][1:-1])))}{quote}"


def _note_on(typed: str) -> str:
    """What is said next to a field: in it the characters stay as they are, since it is sent back."""
    said = remarks(typed)
    if not said:
        return ""
    more = f" And {len(said) - 5} more." if len(said) > 5 else ""
    return f"{_IS_NOTED}{html.escape('In this field: ' + visible_text(' '.join(said[:5])))}{more}</small>"
