"""The documents say what is true: they have every rule that is cited, every setting, every layer."""

import re
from pathlib import Path

import pevsite.settings

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


def test_every_setting_is_said_once_in_the_settings_and_explained_for_operators() -> None:
    name = re.compile(r"\b(?:PEV|ANTHROPIC)_[A-Z][A-Z_]*[A-Z]\b")
    listed = name.findall(pevsite.settings.__doc__ or "")
    table = re.findall(r"^\| (`.*) \|", (ROOT / "docs/operating.md").read_text(), re.MULTILINE)
    read = {
        found
        for folder in ("pevsite", "runs")
        for path in (ROOT / folder).rglob("*.py")
        for found in name.findall(path.read_text())
    }
    assert sorted(listed) == sorted(set(listed))
    assert {found for row in table for found in name.findall(row)} == set(listed)
    assert read - set(listed) == set()
