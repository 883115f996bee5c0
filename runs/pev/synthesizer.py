"""The final answer: what the synthesizer is told. What it says changes no outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runs.enums import Role
from runs.pev import prompts
from runs.pev.asking import ask_for, user
from runs.pev.contracts import SynthesizedAnswer, schema_for
from runs.pev.delimiters import delimited, results_with_notes
from runs.pev.examples import form_of
from runs.pev.ports import Ask, Model


@dataclass(frozen=True)
class AnswerBrief:
    """`results`: findings of each verified step by its name, `notes` what its executor noted beside them.

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


def synthesize(model: Model, brief: AnswerBrief) -> str:
    """The answer in Markdown. Raises ContractBroken or ModelError."""
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
    return ask_for(model, ask, SynthesizedAnswer).answer
