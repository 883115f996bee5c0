"""Imports stand at the top of a module; one inside a function says why. What is named instead lies no higher."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "runs"
SOURCES = [ROOT / "manage.py", *(p for folder in ("pevsite", "runs", "tests") for p in (ROOT / folder).rglob("*.py"))]


_NOT_AT_THE_EDGE = re.compile(r"^(?!from ).+\bimport\b", re.MULTILINE)
_BEGINS_A_TEXT = re.compile(r"[\"']runs\.")


def unexplained(source: str) -> list[int]:
    """The lines of imports inside functions that give no reason. One reason is enough for imports in a row."""
    if not _NOT_AT_THE_EDGE.search(source):  # which is found much sooner than by parsing
        return []
    lines = ["", *source.splitlines()]
    inside = {
        node.lineno: node.end_lineno or node.lineno
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    found = []
    explained = 0  # the last line of the imports that have their reason
    for first, last in sorted(inside.items()):
        goes_on = explained and not "".join(lines[explained + 1 : first]).strip()
        if goes_on or "#" in "".join(lines[first : last + 1]) or lines[first - 1].lstrip().startswith("#"):
            explained = last
        else:
            found.append(first)
    return found


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def a():\n    import b\n", [2]),
        ("def a():\n    import b  # slow\n    import c\n", []),
        ("def a():\n    # slow\n    import b\n\n    import c\n", []),
        ("def a():\n    import b  # slow\n    b.c()\n    import c\n", [4]),
        ("import b\n\nclass A:\n    async def a(self):\n        from b import c\n", [5]),
    ],
)
def test_a_reason_is_a_comment_beside_or_above(source: str, lines: list[int]) -> None:
    assert unexplained(source) == lines


@pytest.mark.slow
def test_no_function_imports_without_a_reason() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in SOURCES
        if not {"migrations", "fixtures"} & set(path.parts)
        for line in unexplained(path.read_text())
    ]
    assert found == []


def named_in(source: str) -> list[str]:
    """What a module names of `runs` in texts, as for isolated processes; of a text that is filled in, its beginning."""
    if not _BEGINS_A_TEXT.search(source):
        return []
    texts = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    dotted = [re.fullmatch(r"(runs(?:\.\w+)+)\.?", text) for text in texts if isinstance(text, str)]
    return [match[1] for match in dotted if match]


@cache
def levels() -> dict[str, dict[str, int]]:
    """For each room that has layers, how high those lie that it contains; 0 is the lowest."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return {
        room: {name: level for level, row in enumerate(reversed(one["layers"])) for name in row.split(" | ")}
        for one in contracts
        if one["type"] == "layers"
        for room in one["containers"]
    }


def is_higher(named: str, module: str) -> bool:
    """Whether a module names what lies in a layer above its own, in the innermost room that has both."""

    def inside(name: str, room: str) -> int | None:
        return rooms[room].get(name.removeprefix(f"{room}.").partition(".")[0]) if name.startswith(f"{room}.") else None

    rooms = levels()
    places = [(inside(named, room), inside(module, room)) for room in rooms]
    return any(its is not None and ours is not None and its > ours for its, ours in places)


def names_of_modules() -> Iterator[tuple[str, str]]:
    """Each name in a text of a module, with that module."""
    for path in RUNS.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if ".migrations" not in module:
            yield from ((named, module) for named in named_in(path.read_text()))


def test_a_name_in_a_text_is_found_and_one_of_a_room_above_told() -> None:
    assert named_in('a = "runs.web.files.excerpt.taken_apart"\nb = f"runs.pev.{c}.made"\nd = "runs well"') == [
        "runs.web.files.excerpt.taken_apart",
        "runs.pev",
    ]
    assert is_higher("runs.reports.json_report.render", "runs.documents.made_files")
    assert is_higher("runs.documents.made_files.make", "runs.documents.writers.xlsx")
    assert not is_higher("runs.documents.printing.word.docx", "runs.documents.made_files")
    assert not is_higher("runs.documents.formats.pdf.pdf_reader.read", "runs.documents.formats")


def test_nothing_is_named_that_lies_above() -> None:
    names = list(names_of_modules())
    assert ("runs.documents.printing.deliverables.docx", "runs.documents.made_files") in names
    assert [(named, module) for named, module in names if is_higher(named, module)] == []
