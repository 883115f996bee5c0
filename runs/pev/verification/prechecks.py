"""The pre-checks of verification: what code can decide before a model is asked (T2)."""

import time
from collections.abc import Mapping, Sequence

from runs.documents.content import document_of, is_blank
from runs.evidence.citations.citing import LISTED, first_of, problems_of
from runs.evidence.results import CriterionResult, Evidence
from runs.pev.checks.deciding import run_check
from runs.pev.checks.file_exists import FileExists
from runs.pev.contracts import Criterion
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.grounding import supports

SECONDS = 20.0
"""Seconds for the slow checks of one attempt together. Each may follow a pattern through thousands of states."""
_ORDER = "OUDKSCMN"
DOCUMENTS = (".md", ".markdown", ".docx", ".pdf")


def decided_by_code(case: VerificationInput, labels: Mapping[str, Criterion]) -> list[CriterionResult]:
    """Every criterion with a check, and each rule of the house that was broken: an expected output that is missing
    or empty (`O1`), a file that no step declared (`U1`), a document that is hardly one (`D1`), one with citations that
    are broken or not wanted (`K1`), too little confidence of its own (`S1`).
    """
    ends = time.monotonic() + SECONDS
    with_check = [(label, criterion, criterion.check) for label, criterion in labels.items() if criterion.check]
    # commands last: they have time of their own, and would use up that of the others
    in_turn = sorted(with_check, key=lambda one: bool(one[2].commands))
    checked = [
        _checked(label, criterion, run_check(check, case.material, min(check.seconds, ends - time.monotonic())))
        for label, criterion, check in in_turn
    ]
    return [
        *_missing_outputs(case),
        *_unannounced(case),
        *_too_short(case),
        *_citations(case),
        *_unsure(case),
        *checked,
    ]


def undecided(labels: Mapping[str, Criterion]) -> list[CriterionResult]:
    """Criteria that are no longer judged, because code has already failed the attempt."""
    return [
        CriterionResult(
            label=label,
            text=criterion.text,
            decided_by="nobody",
            claimed=False,
            supported=False,
            passed=False,
            confidence=0.0,
            feedback="Not judged: the attempt had failed before.",
            about=criterion.topic,
        )
        for label, criterion in labels.items()
        if not criterion.check
    ]


def in_order(results: list[CriterionResult]) -> list[CriterionResult]:
    return sorted(results, key=lambda result: (_ORDER.index(result.label[0]), int(result.label[1:])))


def _missing_outputs(case: VerificationInput) -> list[CriterionResult]:
    missing = [path for path in case.expected_outputs if path not in case.files or is_blank(case.files[path])]
    return [
        _result(f"O{number}", f"The expected output {path} exists and is not empty", _nothing_in(path, case))
        for number, path in enumerate(missing, 1)
    ]


def _nothing_in(path: str, case: VerificationInput) -> Evidence:
    found = run_check(FileExists(kind="file_exists", path=path), case.material)
    return found.model_copy(update={"verified": False, "sentence": f"{path} is empty"}) if found.verified else found


def _unannounced(case: VerificationInput) -> list[CriterionResult]:
    return [
        _result(f"U{number}", "Only declared files are written", _broken(path, f"{path} is declared by no step"))
        for number, path in enumerate(case.undeclared, 1)
    ]


def _too_short(case: VerificationInput) -> list[CriterionResult]:
    """Documents with fewer bytes than the policy asks for, unless the plan itself sets their length."""
    written = [path for path in case.judged_files if path.lower().endswith(DOCUMENTS) and path in case.files]
    sizes = {path: len(case.files[path]) for path in written if not is_blank(case.files[path])}
    short = {path: size for path, size in sizes.items() if size < case.min_document_bytes}
    meant = {
        check.subject
        for check in case.size_checks
        if check.subject in short and run_check(check, case.material).verified
    }
    return [
        _result(
            f"D{number}",
            f"The document {path} is more than a stub",
            _broken(path, f"{path} has {_size(case, path)}; in this run it has to have {case.min_document_bytes}"),
        )
        for number, path in enumerate((path for path in short if path not in meant), 1)
    ]


def _size(case: VerificationInput, path: str) -> str:
    """For a Word or PDF document its text counts, not the size of the file."""
    data = case.files[path]
    return f"{len(data)} bytes{' of text' if document_of(data) else ''}"


def _citations(case: VerificationInput) -> list[CriterionResult]:
    """Documents with a citation that leads nowhere, and finished documents that have any citation (T8)."""
    made = () if case.whole else case.judged_files
    problems = problems_of(made, case.files, case.inputs.files, case.sources, case.finished)
    return [
        _result(f"K{number}", *_citation_problem(path, sentences, finished=path in case.finished))
        for number, (path, sentences) in enumerate(problems.items(), 1)
    ]


def _citation_problem(path: str, sentences: Sequence[str], *, finished: bool) -> tuple[str, Evidence]:
    if finished:
        text = f"{path} is a finished text without citations"
        return text, _broken(path, f"{path} must not carry citations. {' '.join(sentences[:LISTED])}")
    return f"Every citation in {path} leads to what it quotes", _broken(path, f"{path}: {first_of(sentences)}")


def _unsure(case: VerificationInput) -> list[CriterionResult]:
    if case.own_confidence >= case.min_confidence:
        return []
    sentence = f"The executor was only {case.own_confidence:.0%} sure; this run asks for {case.min_confidence:.0%}"
    return [_result("S1", "The executor is sure enough of its own work", _broken("@output", sentence))]


def _broken(source: str, sentence: str) -> Evidence:
    return Evidence(kind="check", source=source, verified=False, sentence=sentence)


def _checked(label: str, criterion: Criterion, evidence: Evidence) -> CriterionResult:
    """T1a holds for checks too: a comparison with the run's own words only proves nothing about the sources."""
    result = _result(label, criterion.text, evidence).model_copy(update={"about": criterion.topic})
    if not evidence.verified or supports(criterion, [evidence]):
        return result
    feedback = f"{evidence.sentence}; but that compares the result with nothing that was given"
    return result.model_copy(update={"supported": False, "passed": False, "feedback": feedback})


def _result(label: str, text: str, evidence: Evidence) -> CriterionResult:
    return CriterionResult(
        label=label,
        text=text,
        decided_by="check",
        claimed=evidence.verified,
        supported=evidence.verified,
        passed=evidence.verified,
        confidence=1.0,
        feedback="" if evidence.verified else evidence.sentence,
        evidence=[evidence],
    )
