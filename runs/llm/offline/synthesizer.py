"""Owns the final answer by rules: gaps first, then what the steps found, in their own figures."""

import re
from collections.abc import Sequence

from runs.llm.offline import wording as w
from runs.llm.offline.plans import DESIGNS
from runs.llm.offline.questions import Question
from runs.llm.offline.texts import number_of, shortened
from runs.llm.offline.wire import Answer
from runs.pev.contracts import SynthesizedAnswer
from runs.pev.delimiters import Block

SHOWN_CHARS = 30_000
_STEPS = [step for design in DESIGNS.values() for step in design.steps]
_NAMES = {step.step_id: step.name for step in _STEPS}
_DEEP = {name for step in _STEPS if step.left_out for name in (step.step_id, step.name)}


def answer(question: Question) -> Answer:
    """The answer begins with the result of the deep step; what stands in it comes from the results alone."""
    results = [item for item in question.all("result") if item.text.strip()]
    gaps = [item.text for item in question.all("gap")]
    files = [line for line in question.one("files").split("\n") if line and line != "(none)"]
    first = _first(results)
    lines = [_opening(first, gaps)]
    if gaps:
        lines += [
            "",
            f"**Not achieved ({len(gaps)}):**",
            "",
            *(f"- {shortened(gap, 1_500)}" for gap in gaps[:50]),
        ]
    lines += _details(first)
    others = [item for item in results if item is not first]
    if others:
        lines += ["", "## What the other steps found"]
    for item in others:
        lines += ["", f"**{_NAMES.get(item.name, item.name)}.** {_lead(item)}"]
    lines += ["", "## Files", "", *(f"- `{path}`" for path in files[:200])]
    if not files:
        lines.append("None were written.")
    lines += ["", f"{w.NO_AI}: no AI was involved in this answer. {_CAUTION}"]
    return Answer(SynthesizedAnswer(answer="\n".join(lines)).model_dump_json())


_CAUTION = "The rules find patterns, they do not understand the text; what they miss they do not report."


def _first(results: Sequence[Block]) -> Block | None:
    """The deep step's result, by its id or its name, else the last one."""
    return next((item for item in results if item.name in _DEEP), results[-1] if results else None)


def _lead(item: Block) -> str:
    return shortened(item.text.strip().split("\n", 1)[0], 1_000)


def _opening(first: Block | None, gaps: Sequence[str]) -> str:
    said = _lead(first) if first else "No step has delivered a result."
    return f"{said} {number_of(len(gaps), 'gap')} must be named." if gaps else said


def _details(first: Block | None) -> list[str]:
    """The rest of the deep step's findings, cut at a line; headings of theirs go down a level."""
    if first is None:
        return []
    rest = first.text.strip().partition("\n")[2].strip().split("\n")
    kept: list[str] = []
    for line in rest:
        if sum(len(one) + 1 for one in kept) + len(line) > SHOWN_CHARS:
            kept.append("- … (cut; the rest stands in the file)")
            break
        kept.append(re.sub(r"^#{1,3} ", "#### ", line))
    return ["", *kept] if any(line.strip() for line in kept) else []
