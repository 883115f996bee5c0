"""Code in colours: spans of its language as elements around escaped text."""

import html
import json
import re
from itertools import pairwise

import pytest
from pygments.lexers import get_lexer_by_name

from runs import isolation
from runs.web.files import excerpt as excerpt_module
from runs.web.files import syntax
from runs.web.files.excerpt import MAX_COLOURED, coloured, excerpt

CODE = "def one(): # <b>\n    return '<two\nthree>' + 1\n"


def shown(text: str, path: str = "a.py", start: int = 0, end: int = 0) -> list[tuple[str, str, str]]:
    lines = coloured(excerpt(text, start, end), text, path, f"{hash(text)}").lines
    return [(line.before, line.hit, line.after) for line in lines]


def test_each_line_has_its_parts_of_the_language() -> None:
    assert shown('"""a\n<b>"""\nx = 1') == [
        ('<span class="code-s">&quot;&quot;&quot;a</span>', "", ""),
        ('<span class="code-s">&lt;b&gt;&quot;&quot;&quot;</span>', "", ""),
        ('x = <span class="code-n">1</span>', "", ""),
    ]


def test_a_place_cuts_what_it_begins_or_ends_in() -> None:
    assert shown("return None", start=3, end=8) == [
        ('<span class="code-k">ret</span>', '<span class="code-k">urn</span> <span class="code-k">N</span>',
         '<span class="code-k">one</span>'),
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["a.py", "a.html", "a.js", "a.json", "Dockerfile", "a.sql", "a.yaml", "a.php"])
def test_nothing_but_elements_is_added(path: str) -> None:
    text = '<?php $a = "<script>alert(1)</script>"; ?>\n&lt; <b onclick=x>\'"\n/* <i> */ # <u>\r\nSELECT 1;\n\n'
    lines = shown(text, path, 20, 60)
    assert all(re.sub(r'<span class="code-[cksnf]">|</span>', "", "".join(line)).count("<") == 0 for line in lines)
    plain = "\n".join(html.unescape(re.sub("<[^>]*>", "", "".join(line))) for line in lines)
    assert plain == text.removesuffix("\n").replace("\r", "")


def test_a_panel_of_a_long_file_has_its_colours() -> None:
    text = "x = 1\n" * 1_000
    lines = coloured(excerpt(text, 3_000, 3_001, in_panel=True), text, "a.py", "long").lines
    assert {line.before + line.hit + line.after for line in lines} == {'x = <span class="code-n">1</span>'}


@pytest.mark.parametrize("path", ["a.txt", "py", "a.md", "a.unknown"])
def test_other_files_are_as_they_are(path: str) -> None:
    assert shown("return <1>", path) == [("return <1>", "", "")]


def test_long_files_stay_plain() -> None:
    text = "# x\n" * (MAX_COLOURED // 4 + 1)
    assert shown(text)[0] == ("# x", "", "")


def test_what_has_too_many_parts_stays_plain() -> None:
    text = "1," * syntax.MAX_SPANS
    assert shown(f"{text}\n{text}", "a.json")[0] == (text, "", "")


def test_what_takes_too_long_stays_plain_and_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x = 1 # slow\n" * 2_000
    with monkeypatch.context() as hurried:
        hurried.setattr(excerpt_module, "COLOUR_LIMITS", isolation.Limits(cpu_seconds=0.001, seconds=60))
        assert shown(text)[0] == ("x = 1 # slow", "", "")
    assert shown(text)[0] == ("x = 1 # slow", "", ""), "there would be time enough now"


@pytest.mark.slow
def test_every_language_has_a_lexer_and_every_span_a_sort() -> None:
    text = "".join(map(chr, range(9, 400)))
    for language in sorted(set(syntax._LEXERS)):
        spans = json.loads(syntax.taken_apart(text.encode(), language))
        assert get_lexer_by_name(language)
        assert all(0 <= one < other <= len(text) and sort in "cksnf" for one, other, sort in spans), language
        assert all(before[1] <= after[0] for before, after in pairwise(spans)), language
