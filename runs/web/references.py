"""Sentences that name a file and a line of it, as HTML in which each such place is a link."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

from runs import trees
from runs.models import Attempt, Run
from runs.pev.contracts import RESULT, Check
from runs.pev.ports import FileInfo
from runs.reading.checks import check_in_words
from runs.web.addresses import file_address
from runs.web.place import Place

MAX_PATH = 300
MAX_LINKS = 200
_LINE = re.compile(r"(?:, line|: Line) (\d{1,9})\b")
_BEFORE = re.compile(r"(?:^|(?<=[\s“”\"'(,;:]))(?=\S)")
"""Where a path may begin."""


def referring(text: str, place: Run | Attempt) -> SafeString:
    """The text, in which “review.md, line 12” leads to this line as the run or the attempt has it."""
    run = place.step.plan.run if isinstance(place, Attempt) else place
    written = place.overlay if isinstance(place, Attempt) else {}
    parts, at = [], 0
    for match in [*_LINE.finditer(text)][:MAX_LINKS]:
        for start in _begins(text, max(at, match.start() - MAX_PATH), match.start()):
            path = text[start : match.start()]
            if found := _file(path.removeprefix(RESULT), run, written.get(path.removeprefix(RESULT)), path):
                address = file_address(run.pk, path.removeprefix(RESULT), found.sha256, Place(line=int(match[1])))
                parts += [escape(text[at:start]), _link(address, text[start : match.end()])]
                at = match.end()
                break
    return format_html_join("", "{}", ((part,) for part in (*parts, text[at:])))


def _begins(text: str, low: int, high: int) -> Iterator[int]:
    """Where the path before a line may begin, the longest first."""
    return (match.start() for match in _BEFORE.finditer(text, low, high))


def _file(path: str, run: Run, written: FileInfo | None, name: str) -> FileInfo | None:
    """The content that a name means: a path is the file as it was given, if one was."""
    given = trees.files_of(run.inputs).get(path) if path == name else None
    return given or written or trees.files_of(run.head).get(path)


def checking(check: Check, run: Run | None) -> SafeString:
    """What a check looks for, with a link to its file if the run has it by now."""
    words, path = check_in_words(check), check.path
    found = _file(path.removeprefix(RESULT), run, None, path) if run else None
    if run is None or found is None or path not in words:
        return format_html("{}", words)
    before, _, after = words.partition(path)
    link = _link(file_address(run.pk, path.removeprefix(RESULT), found.sha256), path)
    return format_html("{}{}{}", before, link, after)


def _link(address: str, words: str) -> SafeString:
    return format_html('<a data-source href="{}">{}</a>', address, words)
