"""The given files that a plan gives its steps."""

from runs.pev.read_set import meant_by
from runs.text.paths import MAX_WILDCARDS
from tests.factories import plan_step

PATHS = ["a.md", "contracts/nda.md", "contracts/old/nda.pdf", "contracts.md", "notes-1/x.md", "Ä/b.md"]


def test_a_plan_means_what_its_steps_name_and_all_where_one_names_nothing() -> None:
    one, other = plan_step("one", "One", inputs=["a.md"]), plan_step("other", "Other", inputs=["*.pdf"])
    assert meant_by([one, other], PATHS) == ["a.md", "contracts/old/nda.pdf"]
    assert meant_by([one, plan_step("all", "All")], PATHS) == PATHS
    assert meant_by([one, plan_step("wild", "Wild", inputs=["*?" * (MAX_WILDCARDS + 1)])], PATHS) == PATHS
