"""The executor's loop: one step, with tools, until there is a report."""

from dataclasses import replace

from runs.contracts.ports import Ask, JournaledToolbox, Model, Reply
from runs.errors import ContractBroken, ToolsUsedUp
from runs.pev.contracts import SimpleReport, StepOutput
from runs.pev.conversation.asking import CORRECTIONS, added, assistant, corrected, read
from runs.pev.conversation.generous import Read
from runs.pev.conversation.originals import Originals
from runs.pev.conversation.repetition import CallHistory
from runs.pev.conversation.served import ServiceCalls
from runs.pev.conversation.turns import FORBIDDEN, MAX_DEMANDS, answered, carried_out, demand, ended_without, taken_down
from runs.pev.conversation.window import RUN_LIMIT, Room, begun_again, without
from runs.pev.conversation.written_calls import read_calls, told_how
from runs.pev.step_brief import StepBrief, question

REPORT = (
    "Tools cannot be used any more. Answer now with your report, one JSON object that follows the schema. Say honestly "
    "what is done and what is not; if the step could not be done, `status` is `blocked`."
)


SIMPLE_REPORT = (
    "Tools cannot be used any more. Answer now with your report, one JSON object. If the step could not be done, "
    "`done` is false and `missing` says why."
)


def execute(model: Model, tools: JournaledToolbox, brief: StepBrief) -> StepOutput:
    """The report of one attempt; the tools have done their work by then.

    In the last round, or when the same calls come again and again, tools are forbidden and the report is demanded, up
    to MAX_DEMANDS times. Near the end of the context window, or when tools of the service are used up in the attempt or
    in the run, a new conversation begins, from what was done. Each reply and each result is recorded by the ports
    before the next question, and what is decided here depends on them alone: a resumed attempt takes the same turns
    (D3).

    Raises ContractBroken when the model refuses, stays invalid or gives no report, ModelError when there is no reply.
    """
    ask = first = question(brief, tools.specs())
    past = _Past(brief.window, tools)
    demanding = SIMPLE_REPORT if brief.simple else REPORT
    demands = corrections = 0
    errors: list[str] = []
    for number in range(1, brief.rounds + MAX_DEMANDS):
        if past.served.used_up(ask) or past.room.is_full(ask):
            ask = past.begun_again(first, demanding if demands else "")
        if not demands and (past.calls.circling or number == brief.rounds):
            ask, demands = added(ask, demand(demanding, circling=past.calls.circling)), 1
        first, ask, reply = past.asked(model, first, replace(ask, last_round=demands > 0))
        reply, miswritten = read_calls(reply, ask) if brief.simple else (reply, "")
        if reply.stop_reason == "tool_use" and reply.tool_uses:
            if (
                demands
            ):  # some servers allow calls although tools are forbidden; these get no number, as nothing is done
                ask = added(answered(ask, reply, [(FORBIDDEN, True)] * len(reply.tool_uses)), demanding)
            else:
                ask = carried_out(ask, reply, tools, past.calls, past.originals)
        elif reply.stop_reason == "pause_turn" and reply.content:
            ask = replace(ask, messages=(*ask.messages, assistant(reply)))
        elif miswritten and not demands and corrections < CORRECTIONS:
            corrections, ask, errors = corrections + 1, told_how(ask, reply, miswritten), [miswritten]
        elif not past.room.exceeded(ask):
            report, errors = _report_in(reply, ask, simple=brief.simple)
            if report is not None:
                return report
            if corrections == CORRECTIONS:
                raise ContractBroken("The executor's report could not be used.", tuple(errors))
            corrections, ask = corrections + 1, corrected(ask, reply, errors)
        if demands == MAX_DEMANDS:
            break
        demands += demands > 0
    raise ended_without("report", ask.role, past.calls, brief.rounds, errors)


def _report_in(reply: Reply, ask: Ask, *, simple: bool) -> tuple[StepOutput | None, list[str]]:
    if simple:
        short, errors = read(reply, SimpleReport, ask)
        return (report_of(Read(short.answer.whole, short.notes)) if short else None), errors
    given, errors = read(reply, StepOutput, ask)
    return (report_of(given) if given else None), errors


def report_of(given: Read[StepOutput]) -> StepOutput:
    """Returns the report. Its notes say what was read differently from how it was written."""
    report, notes = given
    return report.model_copy(update={"notes": "\n".join([report.notes, *notes]).strip()}) if notes else report


class _Past:
    """The history of an attempt, across all its conversations."""

    def __init__(self, window: int | None, tools: JournaledToolbox) -> None:
        self._tools = tools
        self.calls, self.served = CallHistory(), ServiceCalls(window, tools.read_pdf)
        self.originals, self.room = Originals(window), Room(window)

    def begun_again(self, first: Ask, demanding: str = "", limit: str = "") -> Ask:
        """Returns the `first` question with a digest of what was done, to begin a new conversation."""
        self.originals.forget()
        self.served.forget()
        used_up = self.served.used_up(first)
        return begun_again(first, self.calls, self.room, demanding, used_up=used_up, limit=limit)

    def asked(self, model: Model, first: Ask, ask: Ask) -> tuple[Ask, Ask, Reply]:
        """Returns the first question of the conversation, the question that was asked, and the reply.

        If the run has used up tools of the service, they are removed from both questions, and a conversation that has
        begun is restarted.
        """
        while True:
            try:
                reply = model.ask(ask)
                break
            except ToolsUsedUp as used_up:
                is_first, first = ask.messages == first.messages, without(first, used_up.names)
                ask = first if is_first else self.begun_again(first, limit=RUN_LIMIT)
        self.room.heard(ask, reply)
        taken_down(ask, reply, self._tools, self.calls, self.served)
        return first, ask, reply
