"""The plan of the rehearsal: the shipped document review, without the files that feedback leaves out."""

import re
from collections.abc import Iterator, Sequence
from posixpath import basename

from runs.enums import About
from runs.pev.contracts import NOT_DONE, ContextItem, Criterion, PlanContract, PlanStep, RequestAnswer
from runs.pev.delimiters import listed_in
from runs.pev.plans import commented
from runs.rehearsal import job
from runs.rehearsal.conversation import Conversation, unknown
from runs.text.plural import pluralize

MAX_LINE = 3_000
"""Characters of the line that names what is left out; a description may have 4,000."""
_LEAVES_OUT = re.compile(r"(?<!not )(?<!n't )(?<!n’t )\b(?:leave out|without|except|skip|ohne|außer)\b", re.IGNORECASE)
_NO_REHEARSAL = re.compile(r"\b(?:no|without|skip the|ohne|keine) (?:a |the )?(?:rehearsal|probe)\b", re.IGNORECASE)
_REQUEST = re.compile(r"request (\d+):")
_LIMITS = (
    "No AI reads the request, the documents or any feedback. In feedback only files named after “leave out”, and "
    "“no rehearsal”, have an effect; all other words are carried along for people."
)
_ON_PURPOSE = (
    "On its first attempt the step “{name}” leaves one recommendation out on purpose, so that you can see a "
    "verification fail and be fixed. Say “no rehearsal” to do without."
)


def plan(conversation: Conversation) -> PlanContract:
    """The document review for this task. Raises ModelError for any other task."""
    previous = [PlanContract.model_validate_json(part.text) for part in conversation.all("previous_plan")]
    if not all(map(job.can_carry_out, previous)):
        raise unknown("the plan of this run")
    if not previous and conversation.text("request").strip() != job.SAMPLE_REQUEST:
        raise unknown("this task")
    kept = {step.step_id: step for step in _kept(conversation)}
    described = "\n".join(step.description for plan in previous for step in plan.steps)
    documents = listed_in(conversation.text("files"))
    out = _left_out(conversation, described, documents)
    # a later version does it again where the one before did and nothing has failed since
    unwanted = conversation.all("lesson") or any(_NO_REHEARSAL.search(one.text) for one in conversation.all("person"))
    on_purpose = not unwanted and (not previous or job.ON_PURPOSE in described)
    template = job.template()
    if not previous or any(step.step_id == commented.STEP for step in previous[-1].steps):
        # a copy that is among the files would be changed, so it gets none
        words = [path for path in documents if commented.is_word(path) and commented.REVIEWED + path not in documents]
        template = commented.with_copies(template, (path for path in words if path not in out))
    steps = [kept.get(step.step_id) or _step(step, out, on_purpose=on_purpose) for step in template.steps]
    return template.model_copy(
        update={
            "context": [*template.context, *_context(conversation, documents, out, on_purpose=on_purpose)],
            "steps": steps,
            "success_criteria": [*template.success_criteria, Criterion(text=job.ANSWER_NO_AI, about=About.OUTPUT)],
            "answers": list(_answers(conversation, out)),
        }
    )


def _answers(conversation: Conversation, out: frozenset[str]) -> Iterator[RequestAnswer]:
    """Where each request is met, as far as these rules can do anything about it."""
    for part in conversation.all("person"):
        if head := _REQUEST.match(part.name):
            named = sorted(path for path in out if _leaves_out(path, part.text))
            what = [f"{', '.join(named)} {'is' if len(named) == 1 else 'are'} left out."] if named else []
            what += ["There is no rehearsal."] if _NO_REHEARSAL.search(part.text) else []
            how = " ".join(what) or f"{NOT_DONE} about it: offline rules cannot read it."
            yield RequestAnswer(request=int(head[1]), step_id=job.template().steps[0].step_id, how=how[:4_000])


def _kept(conversation: Conversation) -> list[PlanStep]:
    lines = [line for line in conversation.text("kept_steps").split("\n") if line]
    steps = [PlanStep.model_validate_json(line) for line in lines]
    if not all(map(job.is_known, steps)):
        raise unknown("the steps that have passed")
    return steps


def _left_out(conversation: Conversation, described: str, documents: Sequence[str]) -> frozenset[str]:
    """What earlier versions left out, and what feedback names. Never everything, never more than a line can hold."""
    named = {path for path in documents for part in conversation.all("person") if _leaves_out(path, part.text)}
    out = job.left_out(described, documents) | named
    return out if len(_line(out)) <= MAX_LINE and out != set(documents) else frozenset()


def _leaves_out(path: str, words: str) -> bool:
    """Whether a line of feedback names the file, by its path or its name, after words that leave it out."""
    names = "|".join(re.escape(name) for name in (path, basename(path)))
    named = re.compile(rf"(?<![\w/-])(?:{names})(?![\w/-])", re.IGNORECASE)
    clauses = re.split(r"[\n;]", words)
    return any(named.search(clause, cue.end()) for clause in clauses if (cue := _LEAVES_OUT.search(clause)))


def _step(step: PlanStep, out: frozenset[str], *, on_purpose: bool) -> PlanStep:
    lines = [step.description, *([_line(out)] if out else [])]
    if on_purpose and step.step_id == "findings":
        lines.append(job.ON_PURPOSE)
    return step.model_copy(update={"description": "\n".join(lines)})


def _line(paths: frozenset[str]) -> str:
    return job.LEAVE_OUT + ", ".join(f"`{path}`" for path in sorted(paths))


def _context(
    conversation: Conversation, documents: Sequence[str], out: frozenset[str], *, on_purpose: bool
) -> Iterator[ContextItem]:
    name = next(step.name for step in job.template().steps if step.step_id == "findings")
    made = f"{job.NO_AI}: the template “Document review” for {pluralize(len(documents), 'file')}."
    yield ContextItem(name="How this plan was made", value=made)
    yield ContextItem(name="Limits of offline rules", value=_LIMITS)
    yield ContextItem(name="Rehearsal", value=_ON_PURPOSE.format(name=name) if on_purpose else "None in this version.")
    if out:
        yield ContextItem(name="Left out", value=", ".join(sorted(out)))
    for part in [*conversation.all("person"), *conversation.all("lesson")][-12:]:
        name = "Feedback" if part.kind == "person" else "What happened before"
        yield ContextItem(name=name, value=f"{part.name}: “{part.text.strip()}”"[:4_000])
