"""The final answer of the rehearsal: what the steps found, in their own figures."""

import re

from runs.pev.contracts import SynthesizedAnswer
from runs.pev.plans import commented
from runs.rehearsal import job
from runs.rehearsal.conversation import Conversation, unknown
from runs.rehearsal.text import linked
from runs.text.truncate import truncate_line

_CAUTION = (
    "The rules find patterns, they do not understand the text; what they miss they do not report, and what the request "
    "asks beyond this review was not looked for."
)


def answer(conversation: Conversation) -> SynthesizedAnswer:
    """Begins with the findings; what stands in it comes from the results alone. Raises ModelError for other runs."""
    results = {part.name: part.text.strip() for part in conversation.all("result") if part.text.strip()}
    if not results.keys() <= {*job.OUTPUTS, commented.STEP}:
        raise unknown("the results of this run")
    written = [line for line in conversation.text("files").split("\n") if line not in ("", "(none)")]
    files = [f"- `{line}`" for line in written]
    headline, _, details = results.pop("findings", "The findings were not delivered.").partition("\n")
    open_points = " What is left open stands before this answer." if conversation.all("gap") else ""
    lines = [headline + open_points, ""]
    if copies := results.pop(commented.STEP, ""):
        lines += ["**Word documents with comments:**", "", copies.partition("\n")[2].strip(), ""]
    lines += [re.sub(r"^#{1,3} ", "#### ", details.strip(), flags=re.MULTILINE), ""]
    names = {step.step_id: step.name for step in job.template().steps}
    if results:
        lines += ["## What the other steps found", ""]
    for key, text in results.items():
        where = f" See {linked(job.OUTPUTS[key])}." if job.OUTPUTS[key] in written else ""
        lines += [f"**{names[key]}.** {truncate_line(text.partition('\n')[0], 1_000)}{where}", ""]
    lines += ["## Files", "", *(files[:200] or ["None were written."])]
    lines += ["", f"{job.NO_AI}: no AI was involved in this answer. {_CAUTION}"]
    return SynthesizedAnswer(answer=re.sub(r"\n{3,}", "\n\n", "\n".join(lines)))
