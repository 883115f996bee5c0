"""What people wrote into a plan by hand and a later version has no more."""

from runs.enums import Complexity
from runs.pev.checks.min_bytes import MinBytes
from runs.readmodel.plan_differences import AuthoredVersion, lost_edits
from tests.unit.readmodel.test_plan_differences import criterion, step, version

RANK = "Rank every point by severity."
PLANNED = step("a", description="Find the points. Say where they stand.")
EDITED = step("a", description=f"Find the points. {RANK} Say where they stand.")


def lost(*versions: AuthoredVersion) -> list[tuple[str, int, str]]:
    return [(one.by, one.version, ", ".join(one.parts)) for one in lost_edits(versions)]


def test_a_sentence_written_by_hand_is_missed_in_the_next_plan() -> None:
    first, second = AuthoredVersion(version(1, PLANNED), ""), AuthoredVersion(version(2, EDITED), "alice", agreed=True)
    assert lost(first, second) == []
    assert lost(first, second, AuthoredVersion(version(3, PLANNED), "")) == [("alice", 2, f"“{RANK}”")]
    moved = step("b", description="rank every point  by severity")
    assert lost(first, second, AuthoredVersion(version(3, PLANNED, moved), "")) == []


def test_an_edit_of_somebody_else_does_not_hide_what_was_lost_before() -> None:
    versions = [
        AuthoredVersion(version(1, PLANNED), ""),
        AuthoredVersion(version(2, EDITED), "alice"),
        AuthoredVersion(version(3, PLANNED), ""),
        AuthoredVersion(version(4, PLANNED, step("b")), "bob"),
    ]
    assert lost(*versions) == [("alice", 2, f"“{RANK}”")]


def test_what_a_person_took_out_again_or_approved_to_be_without_is_not_missed() -> None:
    first, second = AuthoredVersion(version(1, PLANNED), ""), AuthoredVersion(version(2, EDITED), "alice")
    assert (
        lost(first, second, AuthoredVersion(version(3, PLANNED), "bob"), AuthoredVersion(version(4, PLANNED), "")) == []
    )
    agreed = AuthoredVersion(version(3, PLANNED), "", agreed=True)
    assert lost(first, second, agreed, AuthoredVersion(version(4, PLANNED), "")) == []


def test_checks_files_order_and_steps_are_edits_too_and_a_new_name_is_one() -> None:
    check = MinBytes(kind="min_bytes", path="b.md", min=900)
    first = version(1, PLANNED, step("b"), step("c"))
    changes = {"name": "Sum", "dependencies": ["a"], "inputs": ["x.md"], "estimated_complexity": Complexity.HIGH}
    strict = step("b", acceptance_criteria=[criterion("The work of b is done.", check)], **changes)
    second = version(2, PLANNED, strict)
    (found,) = lost_edits(
        [
            AuthoredVersion(first, ""),
            AuthoredVersion(second, "alice"),
            AuthoredVersion(version(3, *first.steps.values()), ""),
        ]
    )
    assert (found.parts, found.more) == (
        ["“Sum”", "“The work of b is done.” by a check: b.md has at least 900 bytes", "“Sum” is a high-risk step"],
        3,
    )
    renamed = version(2, PLANNED, step("b", name="Sum"), step("c"))
    assert lost(AuthoredVersion(first, ""), AuthoredVersion(renamed, "alice"), AuthoredVersion(first, "")) == [
        ("alice", 2, "“Sum”")
    ]
    fewer = version(2, PLANNED, step("b"))
    assert lost(AuthoredVersion(first, ""), AuthoredVersion(fewer, "alice"), AuthoredVersion(first, "")) == [
        ("alice", 2, "without step “Name of c”")
    ]
