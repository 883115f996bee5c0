"""One session of the agent's program: its questions are asked, and its calls carried out, through the ports.

The rules of `pev.executor` on rounds, circles and the final report apply to a loop that another program runs.
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
    """What a session is for. `first` is the first question. After `rounds` rounds tools are forbidden, and `last`
    demands the output, which is called `output`.

    `read` returns the output of a reply, or None and its errors; it raises ContractBroken for a refusal. `window`: as
    in StepBrief. In the `mode` plan the program may not call tools that change anything.
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
    """Returns the task of making a plan. Plans are refused for the same reasons as without a session."""
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
    """Must be used only in the thread of the work."""

    def __init__(self, model: Model, tools: Toolbox, errand: SessionTask[Output]) -> None:
        self.first = errand.first
        self._model, self._tools, self._errand = model, tools, errand
        self._calls, self._originals = CallHistory(), Originals(errand.window)
        self._asked = self._demands = self._corrections = 0
        self._demanded: dict[int, str] = {}
        """What was demanded, by the number of messages in the conversation at that time."""
        self._reply: Reply | None = None
        self._ids = CallIds()
        self._uses: dict[str, tuple[int, ToolUse]] = {}
        """The calls by the program's ids. The journal has the model's ids."""
        self._results: dict[str, ToolOutcome] = {}
        self._read: dict[str, Sequence[Original]] = {}
        self._pages: dict[tuple[str, ...], Sequence[JsonObject]] = {}

    @property
    def prompt(self) -> list[JsonObject]:
        """Returns the blocks that the program begins with."""
        content = self.first.messages[0]["content"]
        assert isinstance(content, list)  # all messages are made in `question`
        return [block for block in content if isinstance(block, dict)]

    def ask(self, body: object) -> tuple[Reply, int]:
        """Returns the reply to a request of the program, and its number.

        Raises what the port raises, ContractBroken if there is no output in the end or the model refuses, and
        ValueError if it is not a request.
        """
        # Calls that the program has answered itself, such as those of unknown tools, are carried out or refused here
        # like any other, so that they get a number and are in the journal.
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
            # A cut-off reply is returned as a finished one, because the program would let the model continue it: the
            # report is requested again, shorter. Calls that may be incomplete are dropped.
            text: JsonObject = {"type": "text", "text": "(cut off)"}
            kept = tuple(block for block in reply.content if block.get("type") != "tool_use")
            return replace(reply, content=kept or (text,), stop_reason="end_turn"), self._asked
        told = replace(reply, content=self._ids.unique(reply.content))
        for place, (use, shown) in enumerate(zip(reply.tool_uses, told.tool_uses, strict=True)):
            self._uses[shown.id] = place, use
        return told, self._asked

    def _replied(self, ask: Ask) -> Reply:
        """Returns the complete reply. The service is asked to continue a paused one, because the program does not do
        that.
        """
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
        """Converts the request to a question.

        In the conversation of the session, our own messages are repeated as they were. Another conversation, in which
        the program summarises the first one, has its own beginning and no tools.
        """
        first, messages = self.first, request.messages
        if request.system != first.instructions:
            return replace(first, system=request.system, messages=messages, tools=(), stable=(), schema=None)
        begun = text_of(messages[0]) == text_of(first.messages[0])
        # A summary, with which the program continues near the end of the window, must not replace the task.
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
        """Returns the pages that the calls of a turn have read, to be shown as pictures."""
        ids = result_ids(message)
        if ids not in self._pages:
            read = [page for one in ids for page in self._read.get(one, ())]
            self._pages[ids] = self._originals.blocks(read) if read else ()
        return self._pages[ids]

    def call(self, use_id: str) -> ToolOutcome:
        """Returns the result of a call of the last reply. Each call is carried out once, with the arguments in the
        reply.
        """
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
        """Whether a reply contains this call."""
        return use_id in self._uses

    def _without(self) -> ContractBroken:
        return ended_without(self._errand.output, self.first.role, self._calls, self._errand.rounds)

    def output(self) -> Output | str:
        """Returns the output in the last reply, or the text with which the program must ask for it again.

        Raises ContractBroken if it is unusable after CORRECTIONS, and what `SessionTask.read` raises.
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
