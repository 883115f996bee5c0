"""Findings that a document describes one by one."""

import pytest

from runs.readmodel.finding_entries import MAX_ENTRIES, FindingEntry, entries_in


def test_an_entry_has_a_number_a_title_and_its_fields() -> None:
    text = (
        "# Findings\n\n### F1 · Missing date: commencement\n\n> The term begins on ____.\n\n"
        "- Document: lease.md\n- Line: 8\n- Severity: high\n- Recommendation: Fill it in.\n\n## Other\n"
    )
    assert entries_in(text) == [FindingEntry("F1", "Missing date: commencement", "lease.md", "high", "Fill it in.")]


@pytest.mark.parametrize(
    ("lines", "severity", "recommendation"),
    [
        ("**Severity:** low\n\n**Recommendation**: Ask.", "low", "Ask."),
        ("* **Risk:** medium\n* Recommended action: Ask.", "medium", "Ask."),
        ("- Schwere: hoch\n- Empfehlung: Nachfragen.", "hoch", "Nachfragen."),
        ("- 风险：高\n- 建议：补充金额。", "高", "补充金额。"),
    ],
)
def test_fields_are_known_by_several_labels(lines: str, severity: str, recommendation: str) -> None:
    [entry] = entries_in(f"## R-2: Liability\n\n{lines}\n")
    assert (entry.number, entry.severity, entry.recommendation) == ("R-2", severity, recommendation)


@pytest.mark.parametrize(
    "text",
    [
        "## F1: A heading without fields\n\nWords.\n",
        "## Recommendations\n\n- Recommendation: Ask.\n",
        "```\n## F1: In code\n- Recommendation: Ask.\n```\n",
        "- F1: an item\n- Recommendation: Ask.\n",
    ],
)
def test_nothing_else_is_an_entry(text: str) -> None:
    assert entries_in(text) == []


def test_a_field_belongs_to_the_entry_above_it() -> None:
    entries = entries_in("## F1: One\n- Action: a\n## F2: Two\n- Action: b\n- Action: c\n## End\n- Action: d\n")
    assert [(one.number, one.recommendation) for one in entries] == [("F1", "a"), ("F2", "b")]


def test_an_open_code_block_loses_no_finding() -> None:
    assert [one.number for one in entries_in("## F1: One\n- Action: a\n```\ncode\n")] == ["F1"]


def test_there_are_not_more_than_the_limit() -> None:
    text = "".join(f"## F{n}: x\n- Action: a\n" for n in range(1, MAX_ENTRIES + 9))
    assert len(entries_in(text)) == MAX_ENTRIES
