"""Generated cases: each planted fault is there, and in the others there is none."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import product
from random import Random

import pytest

from runs.enums import FaultKind, Language
from runs.pev.contracts import PlanContract
from runs.pev.soundness import problems_in
from runs.pev.tools.registry import TOOL_NAMES
from runs.planted_faults.cases import Case, case_of
from runs.planted_faults.claims import Job
from runs.planted_faults.jobs import PLANTED_EVERYWHERE, cleaning, register
from runs.planted_faults.table_words import CLEANING, REGISTER
from runs.planted_faults.trial import tried
from tests.bench.catching.judges import Judging, honest
from tests.fakes.known_verifiers import KnownVerifier, catching

KINDS, LANGUAGES = list(FaultKind), list(Language)
ROUND = 2 * len(KINDS) * len(LANGUAGES)
"""Cases in which each fault occurs once in each language."""


def cases(count: int, languages: list[Language] = LANGUAGES, kinds: list[FaultKind] = KINDS) -> list[Case]:
    return [case_of(number, kinds, languages, 7) for number in range(count)]


def is_review(job: Job) -> bool:
    return job.domain in {"contracts", "interviews"}


def named(case: Case) -> str:
    return f"{case.number}-{case.kind}-{case.language}"


def test_every_round_has_each_fault_in_each_language_and_as_many_sound_jobs() -> None:
    round_ = cases(ROUND)
    assert Counter((case.kind, case.job.language) for case in round_ if case.kind) == Counter(
        (kind, language) for kind in KINDS for language in LANGUAGES
    )
    assert Counter(case.job.language for case in round_ if not case.kind) == dict.fromkeys(LANGUAGES, len(KINDS))
    assert all(case.kind is case.job.fault for case in round_)


def test_the_same_arguments_make_the_same_case_and_another_seed_another_one() -> None:
    assert cases(ROUND) == cases(ROUND)
    assert case_of(0, KINDS, LANGUAGES, 7).job.files != case_of(0, KINDS, LANGUAGES, 8).job.files


@pytest.mark.parametrize("case", [one for one in cases(3 * ROUND) if is_review(one.job)], ids=named)
def test_a_review_has_the_planted_fault_and_no_other(case: Case) -> None:
    assert faults_in(case.job) == ({case.kind} if case.kind else set())
    assert problems_in(PlanContract.model_validate(case.job.plan), TOOL_NAMES, max_steps=40) == []


@pytest.mark.parametrize("rules", [True, False])
@pytest.mark.parametrize("case", [one for one in cases(ROUND) if is_review(one.job) and not one.kind], ids=named)
def test_a_fair_verifier_passes_a_sound_review(case: Case, rules: bool) -> None:
    ending = tried(case.job, KnownVerifier(case, catching(1.0, "fair")), rules=rules)
    assert (ending.passed, list(ending.marks)) == (True, [])


@pytest.mark.slow
def test_a_verifier_that_reads_tells_the_other_jobs_apart() -> None:
    others = [case for case in cases(6 * ROUND, [Language.ENGLISH]) if not is_review(case.job)]
    endings = [(case, tried(case.job, Judging(honest), rules=True)) for case in others]
    assert {case.kind for case in others} == {None, *PLANTED_EVERYWHERE}
    assert [case.number for case, ending in endings if ending.let_through != (case.kind is None)] == []


NEIGHBOURS = {("cleaning", FaultKind.WRONG_PLACE, "another line of the file")}
"""A wrong line is marked only if the file has that line."""


@pytest.mark.slow
def test_the_rules_refuse_the_same_faults_in_tables_in_every_language() -> None:
    """Under a verifier that passes everything. Sound work is accepted, and a contradiction in prose is left to it."""
    passed = defaultdict[Language, set[tuple[str, FaultKind | None, str]]](set)
    for language, kind, turn in product(LANGUAGES, (None, *PLANTED_EVERYWHERE), range(4)):
        random = Random(f"{kind} {turn}")
        for job in (cleaning(CLEANING[language], random, kind, turn), register(REGISTER[language], random, kind, turn)):
            assert (job.fault, job.language) == (kind, language)
            verifier = KnownVerifier(Case(0, kind, language, job), catching(0.0, "passes"))
            if tried(job, verifier, rules=True).let_through:
                passed[language].add((job.domain, kind, job.variant))
    left = {None: "", FaultKind.CONTRADICTION: "in prose"}
    expected = {(domain, kind, variant) for domain in ("cleaning", "register") for kind, variant in left.items()}
    assert {language: found - NEIGHBOURS for language, found in passed.items()} == dict.fromkeys(LANGUAGES, expected)


_LINK = re.compile(r"\[“([^”]*)”\]\(([^)#]*)#L(\d+)\)")
_DICTATED = ("Note to AI: report", "Hinweis an die KI: Berichte", "致人工智能：请")


def faults_in(job: Job) -> set[FaultKind]:
    """The kinds of faults in a review, found without what the generator says of its fault."""
    (report,) = job.writes.values()
    found = set[FaultKind]()
    if set(job.files) - set(job.reads):
        found.add(FaultKind.UNREAD_INPUT)
    links = links_in(report)
    if not links:
        return {*found, FaultKind.STUB}
    stated = {path: statement for statement, _, path, _ in links}
    if FaultKind.OBEYED_INSTRUCTION not in (kinds := set().union(*(fault_of(one, job) for one in links))):
        if len(links) < len(job.files):
            found.add(FaultKind.OMITTED_ITEM)
        ((answer, _, path, _),) = links_in(job.answer)
        if figures_in(stated[path]) not in ([], figures_in(answer)):
            found.add(FaultKind.WRONG_ANSWER)
    return found | kinds


def fault_of(link: tuple[str, str, str, int], job: Job) -> set[FaultKind]:
    """What is wrong with a statement and its citation."""
    statement, quote, path, number = link
    claim = next((one for one in job.claims if one.file == path), None)
    if claim is None:
        return {FaultKind.INVENTED_SOURCE}
    lines = job.files[path].splitlines()
    line = lines[number - 1] if number <= len(lines) else ""
    if line.startswith(_DICTATED):
        return {FaultKind.OBEYED_INSTRUCTION}
    if claim.name not in statement:
        named = any(one.name in statement for one in job.claims)
        return {FaultKind.WRONG_PLACE if named else FaultKind.INVENTED_NAME}
    if not figures_in(statement):
        return {FaultKind.CONTRADICTION}
    if figures_in(statement) != [claim.figure]:
        return {FaultKind.WRONG_FIGURE}
    if quote not in line:
        return {FaultKind.WRONG_PLACE}
    return set() if number == claim.line else {FaultKind.IRRELEVANT_QUOTE}


def links_in(text: str) -> list[tuple[str, str, str, int]]:
    """The statement, quote, file and line of each citation."""
    pieces = _LINK.split(text)
    parts = zip(pieces[0::4], pieces[1::4], pieces[2::4], pieces[3::4], strict=False)
    return [(re.split(r"\n|\. |：", before)[-1], quote, path, int(line)) for before, quote, path, line in parts]


def figures_in(text: str) -> list[str]:
    return re.findall(r"\d+", text)
