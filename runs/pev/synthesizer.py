"""The prompt for the final answer, which the synthesizer writes. The answer does not change the outcome."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from runs.contracts.base import JsonObject, schema_for
from runs.contracts.ports import Ask, Model
from runs.enums import Role
from runs.evidence.citations.citing import message_of
from runs.pev import prompts
from runs.pev.contracts import SynthesizedAnswer
from runs.pev.conversation.asking import ask_for, user
from runs.pev.conversation.examples import form_of
from runs.pev.delimiters import delimited, results_with_notes


@dataclass(frozen=True)
class AnswerBrief:
    """`results`: findings of each verified step by its name, `notes` what its executor noted in addition to them.

    `gaps`: one sentence for each thing not achieved.
    """

    request: str
    goal: str
    results: Mapping[str, str]
    files: Sequence[str]
    gaps: Sequence[str]
    model: str
    effort: str
    notes: Mapping[str, str] = field(default_factory=dict)


def synthesize(model: Model, brief: AnswerBrief, broken: Callable[[str], Sequence[str]] = lambda answer: ()) -> str:
    """The answer in Markdown. Raises ContractBroken or ModelError.

    `broken`: a sentence for each citation of an answer that leads nowhere. Where there are any the model is asked once
    more; the answer with fewer of them is given back.
    """
    schema = schema_for(SynthesizedAnswer)
    parts = [
        delimited("request", brief.request),
        delimited("goal", brief.goal),
        delimited("files", "\n".join(brief.files) or "(none)"),
        *results_with_notes(brief.results, brief.notes),
        *(delimited("gap", text) for text in brief.gaps),
    ]
    ask = Ask(
        role=Role.SYNTHESIZER,
        model=brief.model,
        effort=brief.effort,
        system=f"{prompts.instructions(Role.SYNTHESIZER)}\n{form_of(SynthesizedAnswer)}",
        messages=(user(*parts),),
        schema_name="answer",
        schema=schema,
    )
    first, _ = ask_for(model, ask, SynthesizedAnswer)
    if not (problems := broken(first.answer)):
        return first.answer
    second, _ = ask_for(model, _ask_again(ask, first, problems), SynthesizedAnswer)
    return min(first.answer, second.answer, key=lambda answer: len(broken(answer)))


def _ask_again(ask: Ask, answer: SynthesizedAnswer, problems: Sequence[str]) -> Ask:
    errors = (
        "Citations of your answer lead nowhere:\n"
        + delimited("broken", message_of(problems))
        + "\nGive the whole answer again, with each of them put right, or without the statement that it was to support."
    )
    earlier: JsonObject = {"role": "assistant", "content": [{"type": "text", "text": answer.model_dump_json()}]}
    return replace(ask, messages=(*ask.messages, earlier, user(errors)))
