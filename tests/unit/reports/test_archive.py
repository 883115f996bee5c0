"""Names in a zip: every system can unpack them, below its folder, and no two become one."""

import pytest

from runs.reports.archive import entry_name, report_name
from runs.text.paths import clashes, clean_path

SAFE = ["a.md", "deep/ü b.md", "node_modules/@types/x.d.ts", ".github/ci.yml", ".env.example", "👩\u200d👧.md", "a...b"]
POSSIBLE = [
    *("what now?.md", "what now*.md", "what now_.md", "a.txt:stream", "a:b/c", "a?b/c", "a<b>.md", '"x".md', "x|y"),
    *(".git/config", "x/.GIT/hooks/pre-commit", "git~1/config", ".g\u200cit/config", ".hg/hgrc"),
]
"""Names that earlier versions stored."""
HOSTILE = [
    *("../../etc/passwd", "/etc/passwd", "a/./b", "a//b", "..\\..\\x", "C:\\x", "nul", "a/CON.txt", "a./b", "a /b"),
    *("txt.\u202eexe", "a\0b", "a\nb", "\ud800", "..", ".", "", "\u200b"),
]


@pytest.mark.parametrize("path", SAFE)
def test_ordinary_names_stay(path: str) -> None:
    assert entry_name(path) == path


@pytest.mark.parametrize("path", [*POSSIBLE, *HOSTILE])
def test_every_name_can_be_unpacked_everywhere_and_leads_nowhere_else(path: str) -> None:
    name = entry_name(path)
    assert clean_path(f"x/{name}") == f"x/{name}"
    assert not set('<>:"|?*\\') & set(name)
    assert entry_name(name) == name


def test_no_two_become_one() -> None:
    assert clashes([entry_name(path) for path in [*SAFE, *POSSIBLE]]) == []
    assert entry_name("a?/b.md").split("/")[0] == entry_name("a?/c.md").split("/")[0]
    assert report_name(["a", "A", "Report.md"]) == "report-2.md"
