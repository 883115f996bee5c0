"""Templates as they are read by people."""

from tests.installation import ROOT

LONGEST = 160
"""A line that is longer cannot be read beside another one."""


def test_lines_of_templates_are_short() -> None:
    lines = [
        (f"{path.relative_to(ROOT)}:{number}", len(line))
        for path in (ROOT / "templates").rglob("*.html")
        for number, line in enumerate(path.read_text().splitlines(), 1)
    ]
    assert len(lines) > 1_000
    assert [(place, length) for place, length in lines if length > LONGEST] == []
