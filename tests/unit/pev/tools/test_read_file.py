"""Which original pages belong to what `read_file` has shown, by the layout and the policy."""

from collections.abc import Sequence

import pytest

from runs.contracts.base import JsonObject
from runs.contracts.ports import ToolResult, ToolUse
from runs.documents.content import Unreadable
from runs.documents.model.layout import BlockKind
from runs.documents.reading.building import Builder
from runs.enums import OriginalPages
from runs.pev.tools.tool import ToolLimits
from runs.pev.tools.toolbox import RunTools
from tests.documents.built import converted
from tests.unit.pev.tools.bench import Memory

SCAN = Unreadable(b"%PDF-1.7\n...")
PNG = Unreadable(b"\x89PNG\r\n...")


def paged(kind: str, *texts: str, pictorial: Sequence[int] = ()) -> bytes:
    builder = Builder(kind, joint="\n\f")
    for number, text in enumerate(texts, 1):
        builder.add(f"page={number}", BlockKind.PAGE, text)
    return converted(builder, "page", len(texts), pictorial)


FILES = {
    "a.md": b"Some words.\n",
    "report.pdf": paged("pdf", "One.\nTwo.", "Three.", "", "Four.", pictorial=(2, 3)),
    "locked.docx": Unreadable(b"\xd0\xcf"),
    "photo.png": paged("image", "Words."),
    "scan.pdf": SCAN,
    "shot.pdf": PNG,  # what it is called does not count
}


class Files(Memory):
    def problem(self, path: str) -> str:
        return "is a scan" if isinstance(self.content[path], Unreadable) else ""


def read(path: str, which: OriginalPages, **arguments: JsonObject | str | int) -> tuple[ToolResult, list[int]]:
    tools = RunTools(Files(FILES), ToolLimits(originals=which))
    use = ToolUse("1", "read_file", {"path": path, **arguments})
    result = tools.run(use)
    return result, [one.page for one in tools.originals(use, result)]


@pytest.mark.parametrize(
    ("path", "of_layout", "of_all"),
    [("report.pdf", [2, 3], [1, 2, 3, 4]), ("photo.png", [1], [1]), ("a.md", [], [])],
)
def test_the_policy_says_which_of_the_pages(path: str, of_layout: list[int], of_all: list[int]) -> None:
    assert [read(path, which)[1] for which in OriginalPages] == [[], of_layout, of_all]


@pytest.mark.parametrize(
    ("arguments", "pages"),
    [
        ({"first_line": 1, "lines": 1}, [1]),
        ({"first_line": 2, "lines": 2}, [1, 2]),
        ({"place": "page=3"}, [3]),
        ({"place": "page=2-4"}, [2, 3, 4]),
        ({"first_line": 5}, [4]),
    ],
)
def test_they_are_those_whose_lines_were_shown(arguments: dict[str, str | int], pages: list[int]) -> None:
    assert read("report.pdf", OriginalPages.ALWAYS, **arguments)[1] == pages


def test_no_other_tool_shows_pages_and_none_of_what_is_gone() -> None:
    memory = Files(FILES)
    tools = RunTools(memory, ToolLimits(originals=OriginalPages.ALWAYS))
    read_it = ToolUse("1", "read_file", {"path": "report.pdf"})
    result = tools.run(read_it)
    assert tools.originals(ToolUse("1", "search_files", {"query": "One"}), result) == ()
    assert [one.path for one in tools.originals(read_it, result)] == ["report.pdf"] * 4
    memory.content["report.pdf"] = b"Another."
    assert tools.originals(read_it, result) == ()


@pytest.mark.parametrize(
    ("path", "arguments", "pages"),
    [
        ("scan.pdf", {}, [1, 2, 3, 4, 5]),
        ("scan.pdf", {"place": "page=6-10"}, [6, 7, 8, 9, 10]),
        ("scan.pdf", {"place": "page=7-90000"}, [7, 8, 9, 10, 11]),
        ("shot.pdf", {}, [1]),
    ],
)
def test_a_file_without_text_is_shown_and_can_prove_nothing(
    path: str, arguments: dict[str, str], pages: list[int]
) -> None:
    result, shown = read(path, OriginalPages.LAYOUT, **arguments)
    assert (result.is_error, shown) == (False, pages)
    assert "nothing of it can be quoted or cited" in result.text
    assert [one.lines for one in result.shown] == [0]


@pytest.mark.parametrize(
    ("path", "which"),
    [("scan.pdf", OriginalPages.NEVER), ("locked.docx", OriginalPages.ALWAYS)],
)
def test_what_nobody_can_look_at_is_refused_as_before(path: str, which: OriginalPages) -> None:
    result, pages = read(path, which)
    assert (result.is_error, result.text, pages) == (True, f"{path} is a scan.", [])
