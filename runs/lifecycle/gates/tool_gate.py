"""The gate of a call that acts outside the run: may exactly this be sent?"""

from collections.abc import Collection
from dataclasses import asdict, replace

from runs.acts.call import Call
from runs.acts.shape import Remark
from runs.contracts.ports import Reply, ToolUse
from runs.enums import GateKind, GateStatus, Verb
from runs.errors import ApprovalAwaited
from runs.lifecycle import effects
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import (
    Decision,
    GateFigures,
    GateType,
    Subject,
    Wording,
    hold,
    open_gate,
    step_of,
)
from runs.lifecycle.toolset import server_of, server_tools, terms_of, tool_of
from runs.mcp_client.server_config import CallTerms
from runs.models import Gate, Run, User, WorkItem
from runs.store.journal import CallPlace
from runs.text.truncate import truncate

MAX_WHY = 600
"""Characters of the reason of a model."""
NO_REASON = "No reason given."
"""Stored for a refusal without words, which takes no more than a click (G7)."""
_AGAIN = "The process ended in the middle of this call, so that it may have been carried out already."
_OTHER_TERMS = "What the administrator says about it has changed since it was approved."


class ToolGate(GateType):
    kind = GateKind.TOOL
    label = "Call"
    subject = Subject.CALL
    template = "gates/gate_call.html"
    wording = Wording(
        "Carry out",
        "Don’t carry out",
        "Reason (with “{no}” the AI sees it, with “{yes}” it is only stored)",
        "“{yes}” lets exactly this through, once. With “{no}” nothing leaves the run, and the AI goes on without it.",
        needs_reason=False,
        default=False,
    )
    does = {
        Verb.APPROVE: "Exactly this call is carried out, once. Any other call is asked about by itself.",
        Verb.REJECT: "Nothing leaves the run. The AI is told so, with your reason if you give one, and goes on without "
        "the call.",
    }
    for_second_person = True
    unattended = Verb.REJECT
    goes_on_at_limit = True
    heading = "Carry out a call that acts outside this run?"

    def complete(self, decision: Decision) -> Decision:
        if decision.verb is not Verb.REJECT:
            return decision
        return replace(decision, reason=decision.reason.strip() or NO_REASON)

    def follow(self, gate: Gate, user: User, decision: Decision) -> None:
        effects.resume_suspended(gate.run)

    def wording_of(self, gate: Gate, figures: GateFigures | None = None) -> Wording:
        words = call_of(gate).wording
        reason, hint = (text.format(yes=words.yes, no=words.no) for text in (self.wording.reason, self.wording.hint))
        return replace(self.wording, approve=words.yes, reject=words.no, reason=reason, hint=hint)

    def after_rejection(self, gate: Gate, attempt: int) -> str:
        return f"{call_of(gate).wording.no}: {self.does[Verb.REJECT]}"

    def title(self, gate: Gate) -> str:
        return call_of(gate).wording.question

    def short_question(self, gate: Gate) -> str:
        return gate.question

    def heading_of(self, gate: Gate) -> str:
        return self.title(gate)

    def bound_to(self, gate: Gate, attempt: int) -> str:
        return "exactly this call with all its arguments, and the account and the words of the administrator"

    def terminal_prompt_of(self, gate: Gate) -> str:
        words = call_of(gate).wording
        return f"[a] {words.yes}, [r] {words.no}, [s] Stop the run? "

    def about(self, gate: Gate, step: str) -> str:
        return f"{call_of(gate).wording.doing}{f' in {step}' if step else ''}"


GATE = ToolGate()


def ask(work: WorkItem, awaited: ApprovalAwaited) -> None:
    """Hold the work until a person has approved the call, or refused it."""
    hold(work)
    known = server_tools([server_of(awaited.name)]).get(awaited.name)
    terms = terms_of(awaited.name)
    call = {
        "name": awaited.name,
        "arguments": dict(awaited.arguments),
        "schema": known.schema if known else {},
        "terms": asdict(terms),
        "again": awaited.again,
    }
    # The row is not saved: it only puts the call into words.
    question = GATE.title(Gate(call=call))
    if awaited.again:
        question = f"{question} {_AGAIN}"
    elif _approved_under_other_terms(work, awaited, terms):
        question = f"{question} {_OTHER_TERMS}"
    why = _words_of_model(work)
    open_gate(work.run, GATE, question, awaited.digest, work=work, step=step_of(work), call=call, why=why)


def _words_of_model(work: WorkItem) -> str:
    """What the model wrote with its latest calls, which is the reason that it gives for them."""
    replies = work.model_calls.filter(live=True, error="").order_by("-ordinal")
    content = replies.values_list("content", flat=True).first() or ()
    return truncate(Reply(tuple(content), "", "").text.strip(), MAX_WHY)


def reasons_for(gate: Gate) -> tuple[Remark, ...]:
    """Why the call is made, as the AI says it, and whether the plan names its tool."""
    why = " ".join(gate.why.split())
    reasons = [Remark("calm", "Why, in words of the AI", f"“{why}”")] if why else []
    if gate.step is None:
        return tuple(reasons)
    spec, name = gate.step.spec, (gate.call or {}).get("name", "")
    if not why:
        reasons.append(Remark("warn", "Why", "the AI gives no reason"))
    plan = "approved plan" if gate.step.plan.approved_how else "plan"
    purposes = " ".join(action.purpose for action in spec.actions if action.tool == name)
    if name in spec.tools or purposes:
        said = f"step “{spec.name}”{f': {purposes}' if purposes else ' may use this tool'}"
        return (*reasons, Remark("good", f"Named in the {plan}", said))
    return (*reasons, Remark("warn", f"Not named in the {plan}", f"step “{spec.name}” does not mention it"))


def call_of(gate: Gate, files: Collection[str] = ()) -> Call:
    """The call that a gate asks about, with what the administrator said when it was asked. `files`: the paths of the
    files of the run.

    Approving is bound to these words (`call_digest`), so they are not read again.
    """
    call = gate.call or {"name": "", "arguments": {}}
    name = call["name"]
    server = server_of(name) if tool_of(name) else ""
    terms = CallTerms(**call.get("terms", {}))
    schema, again = call.get("schema", {}), call.get("again", False)
    return Call(server, tool_of(name) or name, call["arguments"], schema, terms, again, files)


def call_digest(work: WorkItem, place: CallPlace, use: ToolUse, number: int) -> str:
    """What approving a call that acts outside is bound to: this call at its place in this work, byte for byte, and what
    the administrator says about it, such as the account.

    `number` is how often it may have been carried out before.
    """
    terms = asdict(terms_of(use.name))
    return fingerprint.digest_of(["call", work.pk, place.generation, place.ordinal, use.name, use.input, terms, number])


def latest_gate(work: WorkItem, digest: str) -> Gate | None:
    """The last time that a person was asked about this call."""
    gates = work.gates.filter(kind=GATE.kind, digest=digest).select_related("decided_by")
    return gates.order_by("-pk").first()


def calls_asked(run: Run) -> int:
    """The number of different calls of the run about which people were asked."""
    return run.gates.filter(kind=GATE.kind).values("digest").distinct().count()


def _approved_under_other_terms(work: WorkItem, awaited: ApprovalAwaited, terms: CallTerms) -> bool:
    """Whether the last decision about this work approved the same call, which was not sent since."""
    last = work.gates.filter(kind=GATE.kind).order_by("-pk").first()
    if last is None or last.call is None or last.status != GateStatus.APPROVED or last.sent_at:
        return False
    is_same = (last.call["name"], last.call["arguments"]) == (awaited.name, dict(awaited.arguments))
    return is_same and CallTerms(**last.call.get("terms", {})) != terms
