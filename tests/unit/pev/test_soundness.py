"""What keeps a plan from being run, each thing as a sentence."""

import re
from typing import Any

import pytest

from runs.pev import soundness
from runs.pev.checks.contains import Contains
from runs.pev.checks.matches import Matches
from runs.pev.contracts import Criterion, PlanContract, PlannedAction
from runs.pev.soundness import compared_with_itself, problems_in
from tests.unit.pev.scripted import lines_of, plan, step

TOOLS = frozenset({"read_file", "write_file"})


def problems(found: PlanContract) -> list[str]:
    return problems_in(found, TOOLS, max_steps=3)


@pytest.mark.parametrize(
    ("tools", "action", "sentences"),
    [
        (["write_file"], "write_file", []),
        (["write_file", "shell"], "write_file", ["names the tool “shell”, which does not exist. There are: "]),
        (["read_file"], "read_file", ["has an output, and none of its tools writes files."]),
        (["write_file"], "read_file", ["plans the tool “read_file”, which is not among its tools."]),
    ],
)
def test_the_tools_of_a_step(tools: list[str], action: str, sentences: list[str]) -> None:
    planned = [PlannedAction(tool=action, purpose="do it")]
    found = problems(plan(step("one", tools=tools, actions=planned, expected_outputs=["one.md"])))
    assert [one.removeprefix("Step “one” ").removesuffix("read_file, write_file.") for one in found] == sentences


def test_a_plan_without_named_tools_is_to_the_byte_what_it_was() -> None:
    assert "tools" not in step("one").model_dump(mode="json")
    assert step("one", tools=["read_file"]).model_dump(mode="json")["tools"] == ["read_file"]


def test_a_sound_plan_has_no_problems() -> None:
    two = step("two", dependencies=["one"], expected_outputs=["one.md"])
    assert problems(plan(step("one"), two, step("three", dependencies=["two", "one"]))) == []


def test_an_unknown_dependency() -> None:
    assert problems(plan(step("one", dependencies=["zero"]))) == [
        "Step “one” depends on “zero”, which is no step of this plan."
    ]


def test_a_step_id_used_twice() -> None:
    found = problems(plan(step("one"), step("one", expected_outputs=["other.md"]), step("two")))
    assert found == ["The step_id “one” is used twice."]


def test_a_circle() -> None:
    found = problems(plan(step("one", dependencies=["two"]), step("two", dependencies=["one"])))
    assert found in (
        ["The steps depend on each other in a circle: one → two → one."],
        ["The steps depend on each other in a circle: two → one → two."],
    )


def test_a_step_that_waits_for_itself() -> None:
    assert problems(plan(step("one", dependencies=["one"]))) == [
        "The steps depend on each other in a circle: one → one."
    ]


def test_an_unknown_tool_is_answered_with_those_there_are() -> None:
    found = problems(plan(step("one", actions=[PlannedAction(tool="shell", purpose="rm -rf /")])))
    assert found == ["Step “one” plans the tool “shell”, which does not exist. There are: read_file, write_file."]


@pytest.mark.parametrize(
    "path", ["../out.md", "/etc/passwd", "C:/out.md", "a/../../b", "@output", "a//b", "out/", "nul"]
)
def test_an_output_outside_the_tree(path: str) -> None:
    (problem,) = problems(plan(step("one", expected_outputs=[path])))
    assert problem.startswith(f"Step “one” names an output that cannot be written: “{path}” cannot be used as a path: ")


def test_an_output_that_is_not_in_the_form_of_the_tree() -> None:
    assert problems(plan(step("one", expected_outputs=["out\\a.md"]))) == [
        "Step “one” names the output “out\\a.md”; write it as “out/a.md”."
    ]


def test_two_steps_that_may_run_at_once_cannot_claim_one_output() -> None:
    found = problems(plan(step("one"), step("two", expected_outputs=["one.md"])))
    assert found == [
        "The steps “one” and “two” can run at the same time and both write “one.md”. "
        "Let one depend on the other, or give them different files."
    ]


@pytest.mark.parametrize("paths", [["One.md", "one.md"], ["out", "out/two.md"], ["out/two.md", "out"]])
def test_outputs_that_cannot_lie_in_one_tree_even_in_order(paths: list[str]) -> None:
    two = step("two", expected_outputs=paths[1:], dependencies=["one"])
    (problem,) = problems(plan(step("one", expected_outputs=paths[:1]), two))
    assert sorted(re.findall("“(.+?)”", problem)) == sorted(paths)
    assert problem.endswith(" cannot lie in one folder; rename one of the two.")


def test_an_indirect_order_is_enough_to_share_an_output() -> None:
    last = step("three", expected_outputs=["one.md"], dependencies=["two"])
    assert problems(plan(step("one"), step("two", dependencies=["one"]), last)) == []


def test_too_many_steps() -> None:
    found = problems(plan(*(step(f"s{n}") for n in range(4))))
    assert found == ["The plan has 4 steps; this run allows 3."]


def test_a_check_that_cannot_be_run_is_told_where_it_stands() -> None:
    bad = Criterion(text="It says so.", check=Matches(kind="matches", path="one.md", pattern="(", min=1))
    far = Criterion(text="It is there.", check=Contains(kind="contains", path="../x", text="x"))
    found = problems(plan(step("one", acceptance_criteria=[bad]), success_criteria=[far]))
    assert [problem.split(":")[0] for problem in found] == [
        "Step “one”, criterion “It says so.”",
        "success_criteria, criterion “It is there.”",
    ]


def test_checks_that_take_too_long_to_examine_are_not_examined_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soundness, "CHECKS_SECONDS", 0.05)
    slow = [
        Criterion(text="x", check=Matches(kind="matches", path="a", pattern=rf"\w{{1,{n}}}")) for n in range(60, 80)
    ]
    found = problems(plan(step("one", acceptance_criteria=slow)))
    assert found == ["Its checks take more than 0.05 seconds to examine; use fewer or simpler patterns."]


@pytest.mark.parametrize(
    ("about", "check", "refused"),
    [
        ("sources", {"kind": "contains", "path": "one.md", "text": "Every clause was read."}, True),
        ("output", {"kind": "contains", "path": "one.md", "text": "Every clause was read."}, False),
        (None, {"kind": "contains", "path": "one.md", "text": "Every clause was read."}, False),
        ("sources", {"kind": "quotes_occur", "path": "one.md"}, False),
        ("sources", {"kind": "absent", "path": "nda.md", "terms": ["cap"]}, False),
        ("sources", {"kind": "covers", "path": "one.md", "items": ["x"]}, True),
        ("sources", {"kind": "covers", "path": "one.md", "files": "contracts/"}, False),
        ("sources", {"kind": "covers", "path": "one.md", "source": "@result/list.md"}, True),
        (
            "sources",
            {"kind": "count", "path": "one.md", "figure": r"(\d+)", "terms": [{"path": "one.md", "of": "lines"}]},
            True,
        ),
        (
            "sources",
            {"kind": "count", "path": "one.md", "figure": r"(\d+)", "terms": [{"path": "nda.md", "of": "lines"}]},
            False,
        ),
    ],
)
def test_the_result_alone_decides_nothing_about_the_sources(about: str | None, check: Any, refused: bool) -> None:
    criterion = {"text": "Every clause was read", "about": about, "check": check}
    sentence = (
        "Step “one”, criterion “Every clause was read”: It is about the sources, but its check "
        f"{check['kind']} reads only the result; use citations, quotes_occur, covers, count or absent, or leave "
        "check null, so that a verifier judges it."
    )
    assert problems(plan(step("one", acceptance_criteria=[criterion]))) == ([sentence] if refused else [])


def _items_of(source: str, files: str = "") -> dict[str, Any]:
    return {"kind": "covers", "path": "one.md", "source": source, "files": files}


@pytest.mark.parametrize(
    ("about", "check", "refused"),
    [
        ("sources", lines_of("zero.md"), "zero.md"),
        (None, lines_of("zero.md"), "zero.md"),
        ("output", lines_of("zero.md"), ""),
        ("sources", lines_of("nda.md"), ""),
        ("sources", lines_of("contracts/"), ""),
        ("sources", lines_of("*.csv"), "*.csv"),
        ("sources", _items_of("zero.md"), "zero.md"),
        ("output", _items_of("zero.md"), ""),
        ("sources", _items_of("nda.md"), ""),
        ("sources", _items_of("zero.md", "contracts/"), ""),
    ],
)
def test_what_only_the_run_writes_is_no_source(about: str | None, check: Any, refused: str) -> None:
    criterion = {"text": "Every clause was read", "about": about, "check": check}
    one = step("one", acceptance_criteria=[criterion])
    found = compared_with_itself(plan(one), {"nda.md": None, "contracts/a.md": None})
    sentence = (
        f"Step “one”, criterion “Every clause was read”: It is about the sources, but no given file is {refused}, so "
        "it would compare the result with what the run wrote itself; compare it with a given file, or say that it is "
        "about the output."
    )
    assert found == ([sentence] if refused else [])
    assert compared_with_itself(plan(one), {}, kept=[one]) == []


def test_files_by_patterns_are_not_compared_to_the_end_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soundness, "CHECKS_SECONDS", 0.0)
    criterion = {"text": "Every clause was read", "about": "sources", "check": lines_of("*.csv")}
    assert compared_with_itself(plan(step("one", acceptance_criteria=[criterion])), {"nda.md": None}) == [
        "Its checks take more than 0 seconds to examine; name fewer files by patterns."
    ]
