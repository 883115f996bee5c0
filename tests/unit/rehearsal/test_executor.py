"""How a step is carried out: what is read and written, whose words are heeded, and when it is blocked."""

from runs.contracts.ports import ToolResult, ToolUse
from runs.pev.contracts import PlanContract
from runs.pev.planner import Lesson
from runs.pev.step_brief import Critique
from tests.unit.rehearsal.bench import Attempt, Bench, Recorded


def attempt(bench: Bench, plan: PlanContract, key: str, *critiques: Critique, rounds: int = 12) -> Attempt:
    step = next(step for step in plan.steps if step.step_id == key)
    return bench.attempt(plan, step, {}, critiques, rounds)


def test_it_lists_reads_every_document_once_writes_and_reports() -> None:
    bench = Bench()
    done = attempt(bench, bench.plan(), "key-facts")
    used = [(use.name, use.input.get("path", "")) for use in done.uses]
    reads = [("read_file", path) for path in sorted(bench.files)]
    assert used == [("list_files", ""), *reads, ("write_file", "review/key-facts.csv")]
    assert (done.turns, done.output.status, done.output.confidence) == (4, "done", 0.9)
    assert [one.met for one in done.output.criteria_met] == [True, True]


def test_a_long_document_is_read_page_by_page() -> None:
    lines = "\n".join(f"{number}. The Supplier shall act promptly." for number in range(1, 1_301))
    bench = Bench({"long.md": lines.encode()})
    done = attempt(bench, bench.plan(), "inventory")
    assert [use.input["first_line"] for use in done.uses if use.name == "read_file"] == [1, 793]
    assert f"| [long.md](long.md) | {len(lines)} | 1300 | 7800 |  |" in done.tree["review/inventory.md"].decode()


def test_documents_left_out_by_feedback_are_listed_and_not_read() -> None:
    said = (Lesson("Alice", "Leave out Büro lease.md", from_person=True),)
    bench = Bench(lessons=said)
    done = attempt(bench, bench.plan(), "inventory")
    assert "contracts/Büro lease.md" not in {use.input.get("path") for use in done.uses}
    row = "| [contracts/Büro lease.md](contracts/B%C3%BCro%20lease.md) | 3610 |  |  | left out, by feedback |"
    assert row in done.tree["review/inventory.md"].decode()
    assert done.passed


def test_files_of_the_task_that_lie_where_results_go_are_read_too() -> None:
    bench = Bench({"review/lease.md": b"The Tenant shall pay a fee.\n"})
    assert "review/lease.md" in attempt(bench, bench.plan(), "findings").tree["review/findings.md"].decode()


def test_words_of_a_reviewer_are_no_part_of_the_result_and_end_the_failure_on_purpose() -> None:
    bench = Bench()
    words = "F3 is fine.\n### F99 · mine\n- Recommendation: none"
    done = attempt(bench, bench.plan(), "findings", Critique("Bob", words, from_person=True))
    text = done.tree["review/findings.md"].decode()
    assert done.passed
    assert "F99" not in text + done.output.findings
    assert done.output.findings.endswith("\n- Not done: 1 request of a person: offline rules do not understand words.")


def test_what_was_not_done_does_not_break_a_csv() -> None:
    bench = Bench()
    done = attempt(bench, bench.plan(), "key-facts", Critique("Bob", "More, please", from_person=True))
    assert done.passed
    said = "- Not done: 1 request of a person: offline rules do not understand words."
    assert done.output.findings.endswith(said)
    assert "Not done" not in done.tree["review/key-facts.csv"].decode()


def test_without_enough_rounds_it_is_blocked() -> None:
    bench = Bench()
    done = attempt(bench, bench.plan(), "findings", rounds=2)
    assert done.output.status == "blocked"
    assert done.output.notes == "No tools may be used any more, and the file is not written yet."


def test_a_file_that_cannot_be_written_blocks_the_step(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    inner = Recorded.run

    def full(tools: Recorded, use: ToolUse) -> ToolResult:
        return ToolResult("The disk is full.", is_error=True) if use.name == "write_file" else inner(tools, use)

    monkeypatch.setattr(Recorded, "run", full)
    bench = Bench()
    done = attempt(bench, bench.plan(), "findings")
    assert done.output.status == "blocked"
    assert done.output.notes == "review/findings.md could not be written: The disk is full."
