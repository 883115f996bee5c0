"""The templates that ship: sound, measurable, about no particular files, one of them for the rehearsal."""

from importlib.resources import files

import pytest

from runs.enums import About, Effect
from runs.pev.checks.deciding import run_check
from runs.pev.checks.material import CheckInput
from runs.pev.checks.quotes_occur import QuotesOccur
from runs.pev.imports.imported import plan_in
from runs.pev.plans.ordering import levels
from runs.pev.soundness import problems_in
from runs.pev.tools.registry import TOOL_NAMES, effect_of
from runs.rehearsal.job import TEMPLATE, can_carry_out, template
from runs.submission.run_templates import SHIPPED, shipped_plan, with_web_tools


def test_each_file_is_offered_and_read_as_an_import_would_be() -> None:
    found = {item.name.removesuffix(".json"): item for item in files("runs").joinpath("plan_templates").iterdir()}
    assert set(found) == set(SHIPPED)
    for key, item in found.items():
        assert shipped_plan(key) == plan_in(item.read_bytes())


@pytest.mark.parametrize("key", SHIPPED)
def test_a_shipped_plan_can_be_run(key: str) -> None:
    assert problems_in(shipped_plan(key), TOOL_NAMES, max_steps=4) == []


@pytest.mark.parametrize("key", SHIPPED)
def test_each_step_has_checks_criteria_to_judge_and_one_folder_for_all_it_writes(key: str) -> None:
    plan = shipped_plan(key)
    for step in plan.steps:
        assert {bool(criterion.check) for criterion in step.acceptance_criteria} == {True, False}
        assert {action.tool for action in step.actions} >= {"write_file"}
    folders = {path.split("/")[0] for step in plan.steps for path in step.outputs}
    checks = [criterion.check for step in plan.steps for criterion in step.acceptance_criteria if criterion.check]
    looked_at = {check.subject.split("/")[0] for check in checks if not check.commands}
    assert len(folders) == 1
    assert looked_at == folders


@pytest.mark.parametrize(
    ("key", "order"),
    [
        ("document-review", [["inventory"], ["key-facts", "findings"], ["notices"]]),
        ("legal-review", [["categorise"], ["review"], ["notices"], ["summary"]]),
        ("idea-workflow", [["validate"], ["expand"], ["connect"], ["action-plan"]]),
        ("project-analysis", [["scan"], ["architecture", "workflows"], ["recommendations"]]),
        ("file-comparison", [["measure"], ["compare"]]),
        ("look-up", [["look-up"], ["calculate"]]),
    ],
)
def test_what_does_not_need_each_other_runs_in_parallel(key: str, order: list[list[str]]) -> None:
    found = levels({step.step_id: step.dependencies for step in shipped_plan(key).steps})
    assert [[name for name in found if found[name] == level] for level in range(len(order))] == order


GIVEN = {"src/main.py": b"import os\n# TODO: read the options\n", "README.md": b"# Tool\n"}
RECOMMENDED = """# What to mend

### R1 · Read the options

> # TODO: read the options

- Document: src/main.py
- Line: 2
- Why: nobody can change what it does.
"""
NOTHING = "# What to mend\n\nThere are 0 recommendations.\n\n> import os\n\n- Document: src/main.py\n- Line: 1\n"


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (RECOMMENDED, True),
        (RECOMMENDED.replace("> # TODO: read", "> # TODO: write"), False),
        (NOTHING, True),
    ],
)
def test_what_the_project_analysis_quotes_is_compared_with_its_files(text: str, holds: bool) -> None:
    path = "analysis/recommendations.md"
    criteria = [criterion for step in shipped_plan("project-analysis").steps for criterion in step.acceptance_criteria]
    checks = [one.check for one in criteria if one.topic is About.SOURCES and isinstance(one.check, QuotesOccur)]
    (found,) = [run_check(check, CheckInput({**GIVEN, path: text.encode()}, GIVEN)) for check in checks]
    assert (found.verified, found.outside) == (holds, holds)


def test_the_document_review_alone_is_what_the_rehearsal_can_carry_out() -> None:
    assert [key for key in SHIPPED if can_carry_out(shipped_plan(key))] == [TEMPLATE]
    assert template() == shipped_plan(TEMPLATE)


@pytest.mark.parametrize(
    ("there", "planned", "may"),
    [
        (set(), "fetch_page", {"fetch_page"}),
        ({"fetch_page"}, "fetch_page", {"fetch_page"}),
        ({"fetch_page", "web_search"}, "web_search", {"fetch_page", "web_search"}),
        ({"fetch_page", "web_fetch"}, "web_fetch", {"fetch_page", "web_fetch"}),
        (
            {"fetch_page", "web_fetch", "web_search", "code_execution"},
            "web_search",
            {"fetch_page", "web_fetch", "web_search"},
        ),
    ],
)
def test_the_look_up_names_the_tools_for_the_web_that_a_run_has(there: set[str], planned: str, may: set[str]) -> None:
    shipped = shipped_plan("look-up")
    plan = with_web_tools(shipped, there)
    for step in plan.steps:
        assert [action.tool for action in step.actions if effect_of(action.tool) is Effect.READS_WEB] == [planned]
        assert set(step.tools) == {"calculate", "list_files", "read_file", "search_files", "write_file", *may}
    assert problems_in(plan, TOOL_NAMES, max_steps=4) == []
    assert (plan == shipped) == (planned == "fetch_page")
    assert with_web_tools(plan, {"web_search"}) == plan or plan == shipped
    other = shipped_plan("legal-review")
    assert with_web_tools(other, there) is other
