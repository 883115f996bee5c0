"""Imports stand at the top of a module; one inside a function says why, on its line or directly above it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "manage.py", *(p for folder in ("pevsite", "runs", "tests") for p in (ROOT / folder).rglob("*.py"))]


def unexplained(source: str) -> list[int]:
    """The lines of imports inside functions that give no reason. One reason is enough for imports in a row."""
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


def test_no_function_imports_without_a_reason() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in SOURCES
        if not {"migrations", "fixtures"} & set(path.parts)
        for line in unexplained(path.read_text())
    ]
    assert found == []
