"""The attempts of the contract review, passed and failed, with evidence that the real resolver looked up."""

from runs.contracts.base import QuotedEvidence
from runs.enums import (
    Role,
    WorkKind,
)
from runs.evidence.quotes import resolve
from runs.evidence.results import Judgement
from runs.lifecycle import outcomes
from runs.models import Attempt, Run
from runs.pev.checks.deciding import run_check
from runs.pev.checks.file_exists import FileExists
from runs.pev.checks.material import CheckInput
from runs.pev.checks.no_placeholders import NoPlaceholders
from runs.store import blobs, trees
from tests.factories.parts import (
    CRITIQUE,
    DATA,
    INVENTORY,
    LEASE,
    NOTICE,
    REVIEW,
    SERVICE,
    called,
    checked,
    judgement,
    output,
    overlay,
    quote,
    result,
    tool,
    working,
)

INVENTORY_TEXT = """# Contracts

| contract | parties |
|---|---|
| Service agreement | Halvorsen & Pryce Logistics Ltd; Kestrel Systems GmbH |
| Lease | Lindenhof Grundbesitz AG; Marlow Type Studio GmbH |
| Data processing | Clinique du Lac SA; Bramble Analytics Ltd |
"""
FIRST_REVIEW = """# Findings

1. Service agreement, clause 3.3: “as soon as possible” sets no time limit.
   Recommendation: eight working hours.
2. Service agreement, clause 7.2: the limit of liability is “an amount to be agreed between the parties”.
"""
SECOND_REVIEW = (
    FIRST_REVIEW
    + """   Recommendation: the fees of one contract year, EUR 137,400.
3. Lease: the commencement date is empty.
   Recommendation: enter the date of the handover record.
"""
)
NOTICE_TEXT = """Dear Sir or Madam,

clause 2.3 of the service agreement leaves the go-live date at Felixstowe open. Please name the date in writing.
"""


def pass_inventory(run: Run) -> None:
    """The first step, done and passed at its first attempt."""
    with working(run, WorkKind.ATTEMPT, "inventory") as mine:
        assert mine.attempt is not None
        attempt = mine.attempt
        tool(mine, 1, "list_files", {}, f"{SERVICE}\n{LEASE}\n{DATA}")
        tool(mine, 2, "read_file", {"path": SERVICE}, trees_text(run, SERVICE))
        tool(mine, 3, "write_file", {"path": INVENTORY, "content": INVENTORY_TEXT}, "Written.")
        tool(mine, 4, "read_file", {"path": DATA}, trees_text(run, DATA))
        tool(mine, 5, "read_file", {"path": LEASE}, trees_text(run, LEASE))
        called(mine, Role.EXECUTOR, 14_000, 1_900)
        outcomes.executed(
            attempt,
            output("Three contracts, six parties; see the table.", confidence=0.94),
            overlay({INVENTORY: INVENTORY_TEXT}),
        )
        called(mine, Role.VERIFIER, 8_000, 700, ordinal=1_000)
        outcomes.judged(
            attempt,
            judgement(
                [
                    result(
                        "C1",
                        "The inventory exists",
                        [checked(attempt, FileExists(kind="file_exists", path=INVENTORY))],
                    ),
                    result(
                        "C2",
                        "Every contract is listed with both parties.",
                        [
                            quote(attempt, INVENTORY, "Clinique du Lac SA; Bramble Analytics Ltd"),
                            quote(attempt, "@tool-2", "made on 14 March 2026"),
                        ],
                    ),
                ]
            ),
        )


def fail_review(run: Run, findings: str = "Two findings in the service agreement.", key: str = "review") -> None:
    """An attempt that leaves a recommendation out: one criterion unsupported, one failed, and a critique."""
    with working(run, WorkKind.ATTEMPT, key) as mine:
        assert mine.attempt is not None
        attempt = mine.attempt
        tool(mine, 1, "read_file", {"path": SERVICE}, trees_text(run, SERVICE))
        tool(
            mine,
            2,
            "read_file",
            {"path": "contracts/Lease.md"},
            "There is no file contracts/Lease.md.",
            error=True,
        )
        tool(mine, 3, "write_file", {"path": REVIEW, "content": FIRST_REVIEW}, "Written.")
        tool(mine, 4, "write_file", {"path": "review/scratch.txt", "content": "7.2?\n"}, "Written.")
        called(mine, Role.EXECUTOR, 22_000, 2_700)
        outcomes.executed(
            attempt,
            output(findings, confidence=0.71),
            overlay({REVIEW: FIRST_REVIEW, "review/scratch.txt": "7.2?\n"}),
        )
        called(mine, Role.VERIFIER, 12_000, 900, ordinal=1_000)
        outcomes.judged(attempt, first_judgement(attempt))


def first_judgement(attempt: Attempt) -> Judgement:
    return judgement(
        [
            result(
                "C1",
                "Each finding quotes the clause it is about.",
                [quote(attempt, SERVICE, "dealt with as promptly as possible")],
            ),
            result(
                "C2",
                "Each finding recommends what to do.",
                [quote(attempt, REVIEW, "an amount to be agreed between the parties")],
                claimed=False,
                feedback="Finding 2 has no recommendation.",
            ),
            result(
                "C3",
                "The review has no placeholders",
                [checked(attempt, NoPlaceholders(kind="no_placeholders", path=REVIEW))],
            ),
        ],
        feedback=CRITIQUE,
        notes=["The verifier said that everything passed; its own results or their evidence say otherwise."],
    )


def pass_review(run: Run, key: str = "review") -> None:
    """The attempt that heeds the critique."""
    with working(run, WorkKind.ATTEMPT, key) as mine:
        assert mine.attempt is not None
        attempt = mine.attempt
        tool(mine, 1, "read_file", {"path": LEASE}, trees_text(run, LEASE))
        tool(mine, 2, "search_files", {"pattern": "TBD"}, f"{LEASE}:26: The Tenant may use parking spaces TBD")
        tool(mine, 3, "write_file", {"path": REVIEW, "content": SECOND_REVIEW}, "Written.")
        called(mine, Role.EXECUTOR, 26_000, 3_100)
        outcomes.executed(
            attempt,
            output(
                "**Three findings**, each with its clause and a recommendation:\n\n"
                "- clause 3.3\n- clause 7.2\n- the lease’s commencement date"
            ),
            overlay({REVIEW: SECOND_REVIEW}),
        )
        called(mine, Role.VERIFIER, 13_000, 1_000, ordinal=1_000)
        outcomes.judged(
            attempt,
            judgement(
                [
                    result(
                        "C1",
                        "Each finding quotes the clause it is about.",
                        [quote(attempt, SERVICE, "dealt with as soon as possible")],
                    ),
                    result(
                        "C2",
                        "Each finding recommends what to do.",
                        [quote(attempt, REVIEW, "the fees of one contract year, EUR 137,400")],
                    ),
                    result(
                        "C3",
                        "The review has no placeholders",
                        [checked(attempt, NoPlaceholders(kind="no_placeholders", path=REVIEW))],
                    ),
                ]
            ),
        )


def pass_notices(run: Run) -> None:
    with working(run, WorkKind.ATTEMPT, "notices") as mine:
        assert mine.attempt is not None
        attempt = mine.attempt
        tool(mine, 1, "write_file", {"path": NOTICE, "content": NOTICE_TEXT}, "Written.")
        called(mine, Role.EXECUTOR, 9_000, 800)
        outcomes.executed(
            attempt, output("One notice, to Kestrel Systems.", confidence=0.9), overlay({NOTICE: NOTICE_TEXT})
        )
        called(mine, Role.VERIFIER, 6_000, 400, ordinal=1_000)
        outcomes.judged(
            attempt,
            judgement(
                [
                    result(
                        "C1",
                        "The notice names the clause and asks for one thing each.",
                        [quote(attempt, NOTICE, "clause 2.3 of the service agreement")],
                    )
                ]
            ),
        )


ANSWER = """The three contracts leave **three points** open.

1. *Service agreement, 3.3*: “as soon as possible” sets no time limit.
2. *Service agreement, 7.2*: the limit of liability is not agreed.
3. *Lease*: the commencement date is empty.

The notice to Kestrel Systems is drafted in `notices/kestrel-systems.md`.
"""


def final_answer(run: Run, *, met: bool = True) -> None:
    """The final answer and its judgement; unless `met`, the first success criterion has no evidence."""
    with working(run, WorkKind.FINALISE) as mine:
        called(mine, Role.SYNTHESIZER, 9_000, 900)
        files = trees.contents_of(mine.run.head)
        exists = FileExists(kind="file_exists", path=REVIEW)
        given = "three points" if met else "every single point"
        first = resolve(QuotedEvidence(source="@output", quote=given), {"@output": ANSWER.encode()})
        results = [
            result("C1", "Every open point of the three contracts is named with its clause.", [first]),
            result("C2", "The review exists", [run_check(exists, CheckInput(files))]),
        ]
        outcomes.answered(mine.run, ANSWER, judgement(results, feedback="Name every point."))


def trees_text(run: Run, path: str) -> str:
    return blobs.read(trees.files_of(run.inputs)[path].sha256).decode()
