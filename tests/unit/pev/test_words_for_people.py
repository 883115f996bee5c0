"""What people read of a problem: no label, no key of an answer, no grammar of paths that is for models (T13)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from runs.enums import About
from runs.errors import NoVerdict
from runs.evidence.citations.citing import broken_line, superfluous_line
from runs.evidence.citations.lookup import citations_in
from runs.evidence.results import in_plain_words
from runs.evidence.sources import GivenFiles, Sources
from runs.pev.contracts import Criterion, PlanContract, SimplePlan, SimpleVerdict, StepOutput, VerifierAnswer
from runs.pev.conversation.generous import read_json
from runs.pev.verifier import judge
from tests.fakes.team import plan, step
from tests.unit.pev.scripted import Scripted, said
from tests.unit.pev.test_verifier import case, given_, verdict

FILES = {"contracts/nda.md": b"# NDA\n\nNotice is thirty days.\n"}
QUOTES = {"source": "@output", "quote": "Found by one"}
LINKS = (
    "[“thirty days”](contracts/nda.md#p3)",
    "[“thirty days”](contracts/nda.md#notice)",
    "[“forty days”](contracts/nda.md#L3)",
    "[“thirty days”](nda.md#L3)",
    "[“thirty days”](../contracts/nda.md#L3)",
    "[“thirty days”](contracts/other.md)",
    "[other](contracts/other.md)",
    "[“”](contracts/nda.md#L3)",
)
UNUSABLE = (
    "Everything is fine.",
    json.dumps({"criteria_results": []}),
    verdict(given_()).text,
    verdict(given_("C1", passed=False, feedback="")).text,
    verdict(given_("C1", QUOTES), given_("C1", QUOTES)).text,
    verdict(given_("C2", QUOTES)).text,
)
ANSWERS = (PlanContract, SimplePlan, SimpleVerdict, StepOutput, VerifierAnswer)
KEYS = {name for contract in ANSWERS for name in contract.model_fields if "_" in name}
FOR_MODELS = re.compile(rf"\b[CKMNORSTU]\d+\b|#L\d|#p\d|\]\(|{'|'.join(sorted(KEYS))}")


def problems() -> Iterator[str]:
    sources = Sources({}, GivenFiles(FILES, {}))
    for link in LINKS:
        found = citations_in(f"It says {link}.\n", sources)
        yield from (broken_line(one) for one in found.broken)
    yield from (superfluous_line(one) for one in citations_in(f"It says {LINKS[2]}.\n", sources).citations)
    for answer in UNUSABLE:
        with pytest.raises(NoVerdict) as failed:
            judge(Scripted(*[said(answer)] * 3), case(Criterion(text="The term is named.", about=About.OUTPUT)))
        yield str(failed.value)
    nearly: dict[str, Any] = plan({**step("one"), "inputs": [{"path": "a.md"}], "priority": 1})
    nearly["steps"][0]["acceptance_criteria"][0]["check"] = "contains"
    yield from read_json(json.dumps(nearly), PlanContract, set).notes
    judged = judge(
        Scripted(verdict(given_("C1", passed=False, feedback="The term is missing."), overall_pass=False)),
        case(Criterion(text="The term is named.", about=About.OUTPUT)),
    )
    yield in_plain_words(judged.feedback, judged.results, judged.requests)


def test_no_problem_speaks_to_models() -> None:
    found = list(problems())
    assert len(found) > len(LINKS) + len(UNUSABLE)
    assert [(text, FOR_MODELS.findall(text)) for text in found if FOR_MODELS.search(text)] == []


def test_what_is_meant_for_models_would_be_found() -> None:
    told = ("- C1 (The term is named.): It is missing.", "Write it as [“x”](a.md#L3).", "`overall_pass` is missing.")
    assert all(FOR_MODELS.search(text) for text in told)
