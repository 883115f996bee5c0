"""Runs of honest models, each of another kind of work: all end succeeded, and say what that rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from runs.enums import Outcome, Provenance
from runs.evidence.results import CriterionResult
from runs.models import Attempt, Run, ToolCall
from runs.readmodel.run_view import reading_of
from tests.factories import Submit
from tests.fakes.anthropic_answers import Answer, Request, Say, Served, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, block, plan, report, step, step_of, told, verdict
from tests.integration.adversarial.holding import must_hold, page, play, without_marks, words
from tests.integration.adversarial.recomputed import best_outcome
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

AS_USUAL = {"sources_needed": True, "min_document_bytes": 100, "step_approval": "none"}
"""What a person who changes nothing gets; only nobody is asked."""

type Proof = tuple[str, str, str | None]
"""Source, quote, and the words of the result that it supports."""
type Proofs = Mapping[str, Proof | list[Proof]]
"""By the text of a criterion; several for one about each of something."""


@dataclass(frozen=True)
class Work:
    """What an executor does at a step: the files that it reads and writes, what it reports, and its other calls, which
    come first. `served`: blocks of what its service does before all that.
    """

    reads: Sequence[str]
    writes: Mapping[str, str]
    findings: str
    uses: Sequence[ToolUse] = ()
    status: str = "done"
    served: Sequence[dict[str, Any]] = ()


def honest(given: dict[str, Any], work: Mapping[str, Work], proofs: Proofs, answer: str) -> Team:
    """A team that does this work, and whose verifier proves each criterion by its text. Where a proof has no statement,
    it is the quote itself, if the result has it.
    """

    def executor(request: Request, right: Answer) -> Answer:
        mine = work[step_of(request)["step_id"]]
        if request.tool_results:
            return Say(json.dumps(report(mine.findings, status=mine.status)))
        reads = [ToolUse("read_file", {"path": path}) for path in mine.reads]
        writes = [ToolUse("write_file", {"path": p, "content": t}) for p, t in mine.writes.items()]
        uses = [*mine.uses, *reads, *writes]
        if not mine.served:
            return UseTools(*uses)
        calls = [
            {"type": "tool_use", "id": f"toolu_{number}", "name": one.name, "input": dict(one.input)}
            for number, one in enumerate(uses, 1)
        ]
        return Served((*mine.served, *calls), "tool_use")

    def verifier(request: Request, right: Answer) -> Answer:
        judged, made = verdict([], "", ""), made_in(request)
        for line in block(told(request), "criteria").splitlines():
            label, _, text = line.partition(": ")
            known = proofs.get(text, next(iter(proofs.values())))
            (one,) = verdict([label], "", "")["criteria_results"]
            one["evidence"] = [
                {"source": source, "quote": quote, "statement": statement or (quote if quote in made else None)}
                for source, quote, statement in (known if isinstance(known, list) else [known])
            ]
            judged["criteria_results"].append(one)
        return Say(json.dumps(judged))

    said = Say(json.dumps({"answer": answer}))
    return Team(plan=given, executor=executor, verifier=verifier, synthesizer=lambda request, right: said)


def made_in(request: Request) -> str:
    """What the result says, as a verifier is shown it."""
    parts = told(request)
    subject = next(number for number, part in enumerate(parts) if part.kind == "subject")
    return "\n".join(part.text for part in parts[subject:] if part.kind in {"document", "output"})


def criterion(about: str, text: str, **check: Any) -> dict[str, Any]:
    return {"text": text, "about": about, "check": check or None}


def one_step(criteria: Sequence[dict[str, Any]], outputs: Sequence[Any], end: dict[str, Any], **changes: Any) -> Any:
    work = step("work", outputs=()) | {"acceptance_criteria": list(criteria), "expected_outputs": list(outputs)}
    return plan(work | changes) | {"success_criteria": [end]}


def must_succeed(run: Run, client: Client, *reasons: str) -> None:
    """By the product and by the second opinion, with no open point and no mark; reports give these reasons."""
    doubts = [(one.text, item.quote, item.weak) for one in results_of(run) for item in one.evidence if item.weak]
    assert doubts == []
    must_hold(run, client, Outcome.SUCCEEDED, run.answer.splitlines()[0][:20])
    assert (reading_of(run).gaps, best_outcome(run)) == ([], "succeeded")
    for text in (words(page(client, f"/runs/{run.pk}/report/")), without_marks(as_markdown(run))):
        assert [reason for reason in reasons if without_marks(reason) not in without_marks(text)] == []
    found: Any = as_json(run)
    assert found["open_points"] == []
    assert [one for document in found["citations"]["documents"] for one in document["citations"] if one["weak"]] == []


def results_of(run: Run) -> list[CriterionResult]:
    verdicts = [attempt.verdict for attempt in Attempt.objects.filter(step__plan__run=run)]
    return [*(run.final.results if run.final else []), *(one for verdict in verdicts for one in verdict.results)]


def rests_on(run: Run) -> set[Provenance | None]:
    """Whose words the evidence is, or what the checks compared with."""
    return {item.provenance for result in results_of(run) for item in result.evidence}


# ---- a contract review with a finding of absence -------------------------------------------------------------------

CONTRACTS = {
    "contracts/acme.md": b"# Acme\n\nEither party may terminate with thirty days' notice.\nLiability is unlimited.\n",
    "contracts/borealis.md": b"# Borealis\n\nThe term is five years.\nNinety days before its end notice is due.\n",
}
REVIEW = """# Review

- Acme can be left with [“thirty days' notice”](contracts/acme.md#L3), and is liable without limit: [“Liability is \
unlimited”](contracts/acme.md#L4).
- Borealis has a term of [“five years”](contracts/borealis.md#L3).

There is no liability cap in either contract.
"""


def test_a_contract_review_that_finds_what_is_not_there(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    no_cap = criterion(
        "sources", "There is no liability cap", kind="absent", path="contracts/", terms=["liability cap", "capped at"]
    )
    given = one_step(
        [
            criterion("sources", "Each contract is dealt with", kind="covers", path="review.md", files="contracts/"),
            criterion("sources", "Each point is cited", kind="citations", path="review.md", min=3),
            no_cap,
            criterion("sources", "The notice periods are those of the contracts"),
        ],
        ["review.md"],
        criterion("sources", "The answer names the shortest notice"),
    )
    shortest = ("contracts/acme.md", "thirty days' notice", "Acme")
    proofs: dict[str, Proof] = {
        "The notice periods are those of the contracts": ("contracts/acme.md", "thirty days' notice", None),
        "The answer names the shortest notice": shortest,
    }
    answer = "The shortest notice is that of Acme: [“thirty days' notice”](contracts/acme.md#L3). No cap on liability."
    team = honest(given, {"work": Work(list(CONTRACTS), {"review.md": REVIEW}, "No cap.")}, proofs, answer)
    run = play(api, submitted, team, CONTRACTS, **AS_USUAL)
    nowhere = (
        "“liability cap”, “capped at” occur nowhere in contracts/acme.md, contracts/borealis.md (2 files, read whole)"
    )
    must_succeed(run, client, "4 citations, all found", nowhere)
    assert rests_on(run) == {Provenance.GIVEN}


# ---- a part of a large project -------------------------------------------------------------------------------------

PROJECT = {f"src/part{n // 40:02}/module{n:04}.py": f"# Module {n}.\nLIMIT = {n}\n".encode() for n in range(2_000)}


@pytest.mark.exhaustive
def test_the_analysis_of_a_part_of_a_large_project(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """Nobody has to read the 1,960 files that the plan leaves out."""
    part = [path for path in PROJECT if path.startswith("src/part25/")]
    lines = [f"- {path} sets [“LIMIT = {path[-7:-3]}”]({path}#L2)." for path in part]
    limits = "\n".join(["# Limits", "", "40 modules set a limit.", "", *lines, ""])
    files = [{"path": "src/part25/", "of": "files"}]
    given = one_step(
        [
            criterion("sources", "Each module is dealt with", kind="covers", path="limits.md", files="src/part25/"),
            criterion("sources", "Each limit is cited", kind="citations", path="limits.md", min=40),
            criterion(
                "sources", "All are counted", kind="count", path="limits.md", figure=r"(\d+) modules", terms=files
            ),
        ],
        ["limits.md"],
        criterion("sources", "The highest limit is right"),
        inputs=["src/part25/"],
    )
    proofs: dict[str, Proof] = {"The highest limit is right": (part[-1], "LIMIT = 1039", "LIMIT = 1039")}
    answer = f"The highest limit is that of the last module: [“LIMIT = 1039”]({part[-1]}#L2)."
    team = honest(given, {"work": Work(part, {"limits.md": limits}, "All were read.")}, proofs, answer)
    run = play(api, submitted, team, PROJECT, **AS_USUAL)
    must_succeed(
        run, client, "41 citations, all found", "limits.md says 40, line 3: 40 = 40 files matching src/part25/"
    )
    assert rests_on(run) == {Provenance.GIVEN}
    assert ToolCall.objects.filter(run=run, name="read_file").count() == 40


# ---- a translation -------------------------------------------------------------------------------------------------

LETTER = "Sehr geehrte Frau Weber,\n\nwir kündigen den Vertrag 4711 zum 31.12.2026.\n\nMit Grüßen\nJonas Quist\n"
TRANSLATION = (
    "Dear Ms Weber,\n\nwe terminate contract 4711 with effect from 31.12.2026. Kindly confirm this in writing.\n\n"
    "Yours sincerely\nJonas Quist\n"
)


def test_a_translation_carries_no_citations(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    """In Windows-1252, as such letters are. The evidence stands with the verdict, the finished text is left alone."""
    accurate = criterion("sources", "Number, date and names are those of the letter")
    given = one_step(
        [
            accurate,
            criterion("output", "It is of the same length", kind="word_count", path="letter.en.md", min=10, max=40),
        ],
        [{"path": "letter.en.md", "cited": False}],
        criterion("sources", "The answer says when the contract ends"),
    )
    proofs: dict[str, Proof] = {
        accurate["text"]: (
            "letter.de.md",
            "wir kündigen den Vertrag 4711 zum 31.12.2026.",
            "we terminate contract 4711 with effect from 31.12.2026.",
        ),
        "The answer says when the contract ends": ("letter.de.md", "zum 31.12.2026", "31.12.2026"),
    }
    work = {"work": Work(["letter.de.md"], {"letter.en.md": TRANSLATION}, "Translated whole.")}
    answer = "The letter is translated in letter.en.md; the contract ends on 31.12.2026."
    files = {"letter.de.md": LETTER.encode("cp1252")}
    run = play(api, submitted, honest(given, work, proofs, answer), files, **AS_USUAL)
    must_succeed(run, client, "wir kündigen den Vertrag 4711 zum 31.12.2026.")
    assert rests_on(run) == {Provenance.GIVEN, Provenance.MADE}


# ---- a table that is cleaned ---------------------------------------------------------------------------------------

ROWS = [f"{n},person{n}@example.org" for n in range(100)]
DATA = "\n".join(["id,email", *ROWS, *ROWS[:46]]) + "\n"
CLEAN = "\n".join(["id,email", *ROWS]) + "\n"
NOTE = """# What was done

46 duplicates removed. For example [“0,person0@example.org”](data.csv#L2) stood there twice. 100 rows remain.
"""


def test_what_was_removed_from_a_table_is_counted(api: FakeAnthropic, submitted: Submit, client: Client) -> None:
    figure, email = r"(\d+) duplicates removed", "email"
    removed = [{"path": "data.csv", "of": "rows"}, {"path": "@result/data.csv", "of": "rows", "minus": True}]
    kept = {"path": "@result/data.csv", "source": "data.csv", "column": email, "in_column": email}
    given = one_step(
        [
            criterion(
                "sources", "What was removed is counted", kind="count", path="note.md", figure=figure, terms=removed
            ),
            criterion("sources", "No address is lost", kind="covers", **kept),
            criterion("output", "The columns are kept", kind="csv_columns", path="data.csv", columns=["id", email]),
        ],
        [{"path": "data.csv", "cited": False}, "note.md"],
        criterion("sources", "The answer says what was removed"),
    )
    twice = ("data.csv", "45,person45@example.org", None)
    work = {"work": Work(["data.csv"], {"data.csv": CLEAN, "note.md": NOTE}, "46 duplicates removed.")}
    team = honest(given, work, {"The answer says what was removed": twice}, "46 duplicates removed.")
    run = play(api, submitted, team, {"data.csv": DATA.encode()}, **AS_USUAL)
    counted = "note.md says 46, line 3: 46 = 146 rows of data.csv - 100 rows of @result/data.csv"
    must_succeed(run, client, "1 citation, all found", counted)
    assert rests_on(run) == {Provenance.GIVEN, Provenance.MADE}
