"""One session, seen from the agent's program: what it asks is asked through the ports, what it calls is carried out.

Here the rules of `pev.executor` hold for a loop that somebody else runs: its rounds, circles, and the last report.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from runs.agent_sdk.wire import SessionRequest, ToolOutcome, blocks_of, request_of, result_ids, text_of
from runs.contracts.base import JsonObject
from runs.contracts.ports import Ask, Model, Original, Reply, Toolbox, ToolSpec, ToolUse
from runs.errors import ContractBroken
from runs.pev.contracts import PlanContract, StepOutput
from runs.pev.conversation.asking import CORRECTIONS, added, assistant, read, reproach, with_blocks
from runs.pev.conversation.originals import Originals
from runs.pev.conversation.repetition import CallHistory
from runs.pev.conversation.sendable import CallIds
from runs.pev.conversation.turns import FORBIDDEN, MAX_CALLS, MAX_DEMANDS, MAX_TURNS, TOO_MANY, demand, ended_without
from runs.pev.executor import REPORT, report_of
from runs.pev.imports.imported import Imported
from runs.pev.planner import PLAN, PlanBrief, judging
from runs.pev.planner import question as planning_question
from runs.pev.step_brief import StepBrief, question


@dataclass(frozen=True)
class SessionTask[Output]:
    """`first` is the question. After `rounds` rounds tools are forbidden and `last` demands the output, whose name is
    `output`. `read` returns the output of a reply, or None and what is wrong with it; it raises ContractBroken for a
    refusal. `window` is that of a StepBrief. In the `mode` plan the program calls no tool that changes anything.
    """

    first: Ask
    output: str
    last: str
    rounds: int
    read: Callable[[Reply], tuple[Output | None, list[str]]]
    window: int | None = None
    mode: Literal["dontAsk", "plan"] = "dontAsk"


def of_step(brief: StepBrief, tools: Sequence[ToolSpec]) -> SessionTask[StepOutput]:
    first = question(brief, tools)

    def report(reply: Reply) -> tuple[StepOutput | None, list[str]]:
        given, errors = read(reply, StepOutput, first)
        return (report_of(given) if given else None), errors

    return SessionTask(
        first=first,
        output="report",
        last=REPORT,
        rounds=brief.rounds,
        read=report,
        window=brief.window,
    )


def of_plan(brief: PlanBrief, tools: Sequence[ToolSpec]) -> SessionTask[Imported]:
    """A plan is refused for all that it would be refused for without a session."""
    first, problems_with = planning_question(brief, tools), judging(brief)

    def sound(reply: Reply) -> tuple[Imported | None, list[str]]:
        given, errors = read(reply, PlanContract, first)
        if given is not None:
            errors = problems_with(given.answer)
        return (None, errors) if errors or given is None else (Imported(*given), [])

    return SessionTask(
        first=first,
        output="plan",
        last=PLAN,
        rounds=MAX_TURNS,
        read=sound,
        mode="plan",
    )


class Session[Output]:
    """To be used from the thread of the work alone."""

    def __init__(self, model: Model, tools: Toolbox, errand: SessionTask[Output]) -> None:
        self.first = errand.first
        self._model, self._tools, self._errand = model, tools, errand
        self._calls, self._originals = CallHistory(), Originals(errand.window)
        self._asked = self._demands = self._corrections = 0
        self._demanded: dict[int, str] = {}
        """What was demanded, by the number of messages that the conversation had then."""
        self._reply: Reply | None = None
        self._ids = CallIds()
        self._uses: dict[str, tuple[int, ToolUse]] = {}
        """The calls by the ids that the program knows them by. The journal has the ids that the model gave them."""
        self._results: dict[str, ToolOutcome] = {}
        self._read: dict[str, Sequence[Original]] = {}
        self._pages: dict[tuple[str, ...], Sequence[JsonObject]] = {}

    @property
    def prompt(self) -> list[JsonObject]:
        """What the program is to begin with, as blocks."""
        content = self.first.messages[0]["content"]
        assert isinstance(content, list)  # all messages are made in `question`
        return [block for block in content if isinstance(block, dict)]

    def ask(self, body: object) -> tuple[Reply, int]:
        """The reply to a request of the program, and its number. Raises what the port raises, ContractBroken when
        there is no output in the end or the model refuses, ValueError for what is no request.
        """
        # What the program has answered by itself, such as a call of a tool that it does not know, is carried out or
        # refused by us like any other: it gets its number and its place in the journal.
        for message in request_of(body, self._results).messages:
            for use_id in result_ids(message):
                if use_id in self._uses:
                    self.call(use_id)
        request = request_of(body, self._results)
        self._asked += 1
        if self._demands == MAX_DEMANDS:
            raise self._without()
        if self._demands or self._calls.circling or self._asked == self._errand.rounds:
            self._demands += 1
        if self._demands == 1:
            self._demanded[len(request.messages)] = demand(self._errand.last, circling=self._calls.circling)
        reply = self._replied(self._as_ask(request))
        if reply.stop_reason == "refusal":
            self.output()  # raises: the program would ask in other words
        if reply.stop_reason == "max_tokens":
            return _cut_off(reply), self._asked
        told = replace(reply, content=self._ids.unique(reply.content))
        for place, (use, shown) in enumerate(zip(reply.tool_uses, told.tool_uses, strict=True)):
            self._uses[shown.id] = place, use
        return told, self._asked

    def _replied(self, ask: Ask) -> Reply:
        """The whole reply: one that pauses is asked to go on, which the program does not do by itself."""
        content = tuple[JsonObject, ...]()
        self._reply = reply = self._model.ask(ask)
        while reply.stop_reason == "pause_turn" and reply.content:
            content += reply.content
            self._asked += 1
            if self._asked > self._errand.rounds:
                raise self._without()
            ask = replace(ask, messages=(*ask.messages, assistant(reply)))
            self._reply = reply = self._model.ask(ask)
        return replace(reply, content=content + reply.content)

    def _as_ask(self, request: SessionRequest) -> Ask:
        """In the conversation of the session all that we said stands as we said it. Another one, in which the program
        sums the first up, has its own beginning and no tools.
        """
        first, messages = self.first, request.messages
        if request.system != first.instructions:
            return replace(first, system=request.system, messages=messages, tools=(), stable=(), schema=None)
        begun = text_of(messages[0]) == text_of(first.messages[0])
        # A summary, with which the program begins again near the end of the window, does not replace what was asked.
        summary = [] if begun else blocks_of(messages[0])
        messages = (with_blocks(first.messages[0], summary), *messages[1:])
        ask = replace(first, messages=(), last_round=self._demands > 0)
        for number, message in enumerate(messages, 1):
            whole = with_blocks(message, self._pages_beside(message))
            ask = replace(ask, messages=(*ask.messages, whole))
            if text := self._demanded.get(number):
                ask = added(ask, text)
        return ask

    def _pages_beside(self, message: JsonObject) -> Sequence[JsonObject]:
        """The pages that the calls of a turn have read, as they look."""
        ids = result_ids(message)
        if ids not in self._pages:
            read = [page for one in ids for page in self._read.get(one, ())]
            self._pages[ids] = self._originals.blocks(read) if read else ()
        return self._pages[ids]

    def call(self, use_id: str) -> ToolOutcome:
        """What came of a call of the last reply, with the arguments that the reply has; each is carried out once."""
        if use_id not in self._results:
            self._results[use_id] = self._called(use_id)
        return self._results[use_id]

    def _called(self, use_id: str) -> ToolOutcome:
        place, use = self._uses[use_id]
        if self._demands:
            return ToolOutcome(f"{FORBIDDEN} {self._errand.last}", is_error=True)
        if place >= MAX_CALLS:
            return ToolOutcome(TOO_MANY, is_error=True)
        result = self._tools.run(use)
        self._read[use_id] = self._tools.originals(use, result)
        [(text, is_error)] = self._calls.answers([(use, result)])
        return ToolOutcome(text, is_error)

    def has_called(self, use_id: str) -> bool:
        """Whether it is a call of a reply."""
        return use_id in self._uses

    def _without(self) -> ContractBroken:
        return ended_without(self._errand.output, self.first.role, self._calls, self._errand.rounds)

    def output(self) -> Output | str:
        """What the last reply is; or, as a text, what the program is to ask for in its place.

        Raises ContractBroken when it is not usable after CORRECTIONS, and what `SessionTask.read` raises.
        """
        if self._reply is None:
            raise ContractBroken("The agent's program ended without asking the model.", ())
        output, errors = self._errand.read(self._reply)
        if output is not None:
            return output
        if self._corrections == CORRECTIONS:
            raise ContractBroken(f"The {self.first.role}'s {self._errand.output} could not be used.", tuple(errors))
        self._corrections += 1
        return reproach(errors)


def _cut_off(reply: Reply) -> Reply:
    """As an answer that is over, since the program would have it go on: a report is asked for again, whole and shorter.
    Of calls that may be cut none is made.
    """
    text: JsonObject = {"type": "text", "text": "(cut off)"}
    kept = tuple(block for block in reply.content if block.get("type") != "tool_use")
    return replace(reply, content=kept or (text,), stop_reason="end_turn")
