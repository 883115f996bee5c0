"""No regular expression of the product takes more than linear time, whatever a document holds."""

import re

import pytest

from tests.hostile import expressions
from tests.hostile.bounds import within

pytestmark = pytest.mark.slow

MADE_WHEN_RUN = {
    "runs/documents/formats/pdf/windows.py: b'\\\\0{%d,}' % min(count, 60000)",  # one byte, so many times
    "runs/documents/model/anchors.py: pattern",  # of anchors, of 300 letters, as a document format declares them
    "runs/documents/model/anchors.py: self.form",  # the same
    "runs/text/paths.py: fnmatch.translate(form)",  # eight wildcards at most, against paths of 400 characters
    "runs/rehearsal/job.py: ''.join((f'(?P<{part}>.+)' if index % 2 else re.escape(part)",  # of criteria, 4,000 letters
    "runs/rehearsal/planner.py: f'(?<![\\\\w/-])(?:{names})(?![\\\\w/-])'",  # two names, letter by letter
    "runs/planted_faults/canaries.py: f'(?<![^\\\\W_]){re.escape(was)}(?![^\\\\W_])'",  # a name, letter by letter
    "runs/mcp_client/mcp_answers.py: pattern",  # of a server: it is compiled, and nothing is matched with it
    "runs/text/normalisation.py: '[' + ''.join((f'{re.escape(chr(one))}-{re.escape(chr(to))}'",  # one character
    "runs/text/visible.py: pattern",  # one character of an alphabet: a table right above
    "runs/reports/places.py: f'(?<![\\\\w/.-])(?:{'|'.join(longest_first)})(?![\\\\w/-])'",  # 60 paths
    "runs/web/markup/prose.py: f'(?<!\\\\w){re.escape(caseless(name))}(?!\\\\w)'",  # the title of a file
    "runs/rehearsal/findings.py: self.pattern",  # looked at where it is kept
    "runs/rehearsal/findings.py: pattern",  # what is made of it is looked at where it is kept
}


def test_no_expression_takes_more_than_linear_time_and_all_but_these_are_looked_at() -> None:
    slow, left_out, kept = within(20, 400, "tests.hostile.expressions.looked_at")
    assert slow == []
    assert left_out == MADE_WHEN_RUN
    assert kept > 30


def first_slow(pattern: str, method: str) -> str:
    return expressions._first_slow(re.compile(pattern), {method})


def test_a_quadratic_expression_would_be_found() -> None:
    assert "characters" in within(5, 100, f"{__name__}.first_slow", r"\s*,", "search")
    assert "characters" in within(5, 100, f"{__name__}.first_slow", r"[^|]*\w(?:\d|[a-z])*\|", "fullmatch")
    assert within(5, 100, f"{__name__}.first_slow", r"\s*,", "match") == ""
