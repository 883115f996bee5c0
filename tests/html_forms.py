"""What a browser sends of a form on a page."""

import re
from html.parser import HTMLParser

from django.http import QueryDict


def undescribed(page: str) -> str:
    """The page without the ids of what is said about the buttons of decisions."""
    return re.sub(r'\s+aria-describedby="gate-\d+-does-\w+"', "", page)


class _Reader(HTMLParser):
    """Reads the fields of the form with this id."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.sent = QueryDict(mutable=True)
        self._form, self._is_inside = form, False
        self._select = self._textarea = self._text = ""
        self._options: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._is_inside = given.get("id") == self._form
        if not self._is_inside:
            return
        kind, name = given.get("type", "text"), given.get("name", "")
        if tag == "input" and name and (kind != "checkbox" or "checked" in given):
            self.sent.appendlist(name, given.get("value", "on" if kind == "checkbox" else ""))
        if tag == "textarea":
            self._textarea, self._text = name, ""
        if tag == "select":
            self._select, self._options = name, []
        if tag == "option":
            chosen = "selected" in given
            self._options = [given["value"], *self._options] if chosen else [*self._options, given["value"]]

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._textarea:
            text = self._text.replace("\r\n", "\n").removeprefix("\n")
            self.sent.appendlist(self._textarea, text.replace("\n", "\r\n"))
            self._textarea = ""
        if tag == "select" and self._select:
            self.sent.appendlist(self._select, self._options[0])
            self._select = ""
        if tag == "form":
            self._is_inside = False


def sent_of(page: str, form: str) -> QueryDict:
    """The names and values, without the token against forged requests."""
    reader = _Reader(form)
    reader.feed(page)
    reader.sent.pop("csrfmiddlewaretoken", None)
    return reader.sent
