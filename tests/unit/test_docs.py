"""The documents say what is true of the tree: every rule that is cited, every layer, every path and name."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_rule_that_is_cited_stands_in_the_rules() -> None:
    rules = set(re.findall(r"^\* \*\*([TGDS]\d+[a-z]?)\*\* ", (ROOT / "docs/rules.md").read_text(), re.MULTILINE))
    cited = {
        rule
        for folder in ("pevsite", "runs", "tests")
        for path in (ROOT / folder).rglob("*.py")
        for rule in re.findall(r"\b[TGDS]\d{1,2}[a-z]?\b", path.read_text())  # ruff's codes have three figures
    }
    assert cited - rules == set()
