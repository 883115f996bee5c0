"""Cases that people have labelled by overruling a verdict: what is kept, and how a verifier judges them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runs.contracts.base import PERSON, RESULT, TOOL
from runs.contracts.ports import FileInfo, Model
from runs.documents.content import digest_of, text_of
from runs.enums import About, FaultKind, Language
from runs.errors import InvalidInput
from runs.evidence.results import CriterionResult, doubts_in
from runs.evidence.sources import GivenFiles, Sources, ToolText
from runs.pev.contracts import Criterion
from runs.pev.tools.ask_person import AskPerson
from runs.pev.tools.registry import ABOUT_FILES
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.questions import SHOWN_CHARS, SHOWN_IN_ALL
from runs.pev.verifier import judge
from runs.planted_faults.stored_contracts import JudgedContent, KeptCall, KeptText, VerifierSettings
from runs.planted_faults.trial import Ending, criteria_of
from runs.redaction import redacted

_REQUEST = "The task is not shown. Judge the result by its criterion alone."
_SUBJECT = "One result of a step, and one criterion."
_RESTS_ON_PEOPLE = (
    "This verdict rests on what people said in the run. That is not kept, so no verifier could judge it again."
)
_HAS_SECRETS = (
    "A tool showed a secret of this installation to the step. Secrets are not kept, so no verifier could judge this "
    "verdict again."
)


def content_of(case: VerificationInput, result: CriterionResult) -> JudgedContent:
    """What a verifier has to see to judge this criterion of a case again, without secrets.

    The sources belong to it if the criterion is about them, or if the verdict quotes them. Each text is cut where
    verifiers read no further. Raises InvalidInput if too little or too much of a case would be kept.
    """
    quoted = dict.fromkeys(one.source for one in result.evidence if one.kind == "quote")
    about = result.about or About.SOURCES
    tools = {f"{TOOL}{number}": tool for number, tool in enumerate(case.tools, 1)}
    given = [name for name in quoted if name in case.inputs.files]
    calls = {name: tool for name, tool in {**tools, **case.earlier}.items() if name in quoted}
    if about is About.SOURCES:
        given = [*case.given, *given]
        # Without calls that show or write files: the files themselves are kept.
        calls = {name: tool for name, tool in {**tools, **calls}.items() if _tool_of(tool) not in ABOUT_FILES}
    if any(name.startswith(PERSON) for name in quoted) or any(
        _tool_of(one) == AskPerson.name for one in calls.values()
    ):
        raise InvalidInput(_RESTS_ON_PEOPLE)
    content = JudgedContent(
        criterion=redacted(result.text),
        about=about,
        output=_kept(case.output),
        made=_texts(case.shown, case.sources),
        given=_texts(given, case.sources),
        calls=[_call(tool, case.sources.observed(name)) for name, tool in calls.items()],
    )
    if content.characters > SHOWN_IN_ALL:
        raise InvalidInput(
            f"What was judged has {content.characters:,} characters. At most {SHOWN_IN_ALL:,} can be kept of a verdict."
        )
    return content


def _tool_of(call: ToolText) -> str:
    """The name of the tool."""
    return call.sent.partition("\n")[0]


def _call(call: ToolText, observed: Iterable[tuple[int, int]]) -> KeptCall:
    """What is kept of a call, with the parts of its result that count as observed. Raises InvalidInput if secrets are
    removed from the result: the parts are then elsewhere.
    """
    parts = [(start, min(end, SHOWN_CHARS)) for start, end in observed if start < SHOWN_CHARS]
    if parts and redacted(call.result) != call.result:
        raise InvalidInput(_HAS_SECRETS)
    return KeptCall(
        result=_kept(call.result),
        sent=_kept(call.sent),
        observed=parts,
        is_outside=call.is_outside,
        is_printed=call.is_printed,
    )


def _texts(names: Iterable[str], sources: Sources) -> list[KeptText]:
    """The texts of these sources, each once. What has no text is left out, as in the questions to verifiers."""
    texts = {name: text_of(sources[name]) for name in names if name in sources}
    return [KeptText(name=redacted(name), text=_kept(text)) for name, text in texts.items() if text is not None]


def _kept(text: str) -> str:
    return redacted(text)[:SHOWN_CHARS]


@dataclass(frozen=True)
class CorrectedCase:
    """A case by its number in a calibration. `met`: what the person said of the criterion."""

    number: int
    met: bool
    content: JudgedContent
    kind: FaultKind | None = None
    language: Language | None = None

    def ending(self, verifier: Model, asked: VerifierSettings, *, rules: bool) -> Ending:
        """What becomes of the result under a verifier. Raises as `trial.tried`."""
        judged = judge(verifier, _input_of(self.content, asked, rules=rules), [(verifier, asked.model)])
        doubts = doubts_in(judged.results, "the result") if rules else []
        marks = [f"{one.text}: {one.sample}" for one in judged.results if rules and one.looked_at < one.out_of]
        return Ending(judged.passed and not doubts, marks, judged=[judged])


def _input_of(content: JudgedContent, asked: VerifierSettings, *, rules: bool) -> VerificationInput:
    given = dict(_bytes_of(content.given))
    made = {name.removeprefix(RESULT): data for name, data in _bytes_of(content.made).items()}
    return VerificationInput(
        subject=_SUBJECT,
        request=_REQUEST,
        criteria=criteria_of([Criterion(text=content.criterion, about=content.about)], rules=rules),
        expected_outputs=(),
        files=given | made,
        shown=[one.name for one in content.made],
        output=content.output,
        tools=[
            ToolText(
                one.result,
                sent=one.sent,
                is_outside=one.is_outside,
                is_printed=one.is_printed,
                observed=one.observed,
            )
            for one in content.calls
        ],
        model=asked.model,
        effort=asked.effort,
        simple=asked.simple,
        inputs=GivenFiles(given, {name: FileInfo(digest_of(data), len(data)) for name, data in given.items()}),
        given=list(given),
        whole=True,  # the other rules of the house are no part of the criterion
        min_verifier_confidence=asked.min_confidence if rules else 0.0,
    )


def _bytes_of(texts: Iterable[KeptText]) -> Mapping[str, bytes]:
    return {one.name: one.text.encode() for one in texts}
