"""Subagents: agents to which an executor hands parts of its step, each in a conversation of its own.

Questions and calls go through the ports of the attempt, one after the other, and are in the journal like its own: after
a crash they are replayed in the same order (D3).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from pydantic import ValidationError

from runs.contracts.ports import Ask, JournaledToolbox, Model, Original, Reply, Toolbox, ToolResult, ToolSpec, ToolUse
from runs.enums import Role
from runs.pev import prompts
from runs.pev.agents import Subagent, permitted
from runs.pev.conversation.asking import EXCEEDED, added, user
from runs.pev.conversation.originals import Originals
from runs.pev.conversation.repetition import CallHistory
from runs.pev.conversation.turns import carried_out
from runs.pev.conversation.window import MAX_RESULT_CHARS, Room, answer_tokens, begun_again, result_chars
from runs.pev.delimiters import beginning_of, delimited, listing
from runs.pev.step_brief import StepBrief
from runs.pev.tools.delegate import Delegate
from runs.pev.tools.toolbox import wrong_arguments
from runs.text.truncate import quoted

MAX_DELEGATIONS = 20
"""Delegations of one attempt. Each may take as many rounds as the attempt itself, so this ends a model that only
delegates.
"""
MAX_QUESTIONS = 400
"""Of all subagents of an attempt: its questions, and its calls at so many in a turn, are numbered below those of its
verification and its checks.
"""
_USED_UP = f"Nothing was handed on: an attempt may do so {MAX_DELEGATIONS} times, and has. Do the rest yourself."
_ASKED_OUT = f"Nothing was handed on: subagents of an attempt may take {MAX_QUESTIONS} turns, and have. Do it yourself."
_LAST = "Tools cannot be used any more. Answer now with what you have, and say what is missing."
_ENDED = {
    "refusal": "{} has refused this task. Do it yourself, or leave it out and say so.",
    "max_tokens": "The answer of {} was cut off at the length limit. Hand it a smaller part, or have it write a file.",
    EXCEEDED: "This was longer than {} can read. Hand it a smaller part.",
}
"""The reason for a conversation without an answer, by the stop reason of its last reply."""


def with_subagents(tools: JournaledToolbox, model: Model, brief: StepBrief) -> JournaledToolbox:
    """The tools of an attempt, with the one for delegating if its step may do so."""
    return _Delegating(tools, model, brief) if brief.subagents else tools


class _Delegating:
    """A JournaledToolbox that numbers all calls as the journal does, those of subagents among them.

    What a port has raised ends it: a program that goes on for a moment all the same, with the call that waits for a
    person or with another one, would have a subagent ask everything once more.
    """

    def __init__(self, tools: JournaledToolbox, model: Model, brief: StepBrief) -> None:
        self._tools, self._model, self._brief = tools, model, brief
        self._numbered = self._delegations = self._asked = 0
        self._failure: Exception | None = None

    def specs(self) -> Sequence[ToolSpec]:
        own = Delegate.spec_for({name: one.definition for name, one in self._brief.subagents.items()})
        return sorted([*self._tools.specs(), own], key=lambda spec: spec.name)

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        return self._tools.originals(use, result)

    def run(self, use: ToolUse) -> ToolResult:
        if self._failure is not None:
            raise self._failure
        try:
            if use.name == Delegate.name:
                # Each call of the subagent has its number by now; this call gets the next one.
                calls = CallHistory(self._numbered)
                result = self._answer(use, calls)
                return replace(self.note(use, result), within=tuple(calls.calls))
            self._numbered += 1
            return self._tools.run(use)
        except Exception as error:
            self._failure = error
            raise

    def serve(self, use: ToolUse, result: ToolResult) -> ToolResult:
        self._numbered += 1
        return self._tools.serve(use, result)

    def read_pdf(self, address: str, data: bytes) -> str:
        return self._tools.read_pdf(address, data)

    def note(self, use: ToolUse, result: ToolResult) -> ToolResult:
        self._numbered += 1
        return self._tools.note(use, result)

    def _answer(self, use: ToolUse, calls: CallHistory) -> ToolResult:
        try:
            task = Delegate.model_validate(use.input)
        except ValidationError as error:
            return ToolResult(wrong_arguments(Delegate, error), is_error=True)
        subagent = self._brief.subagents.get(task.agent)
        if subagent is None:
            there = ", ".join(sorted(self._brief.subagents))
            return ToolResult(f"This step has no subagent {quoted(task.agent)}; there are {there}.", is_error=True)
        if self._delegations == MAX_DELEGATIONS:
            return ToolResult(_USED_UP, is_error=True)
        if self._asked == MAX_QUESTIONS:
            return ToolResult(_ASKED_OUT, is_error=True)
        self._delegations += 1
        own, rounds = _SubagentTools(self, task.agent, subagent), min(self._brief.rounds, MAX_QUESTIONS - self._asked)
        reply, asked = own.reply(self._model, self._question(task, subagent, own), rounds, calls)
        self._asked += asked
        return _result_of(task.agent, reply, calls, result_chars(self._brief.window, MAX_RESULT_CHARS))

    def _question(self, task: Delegate, subagent: Subagent, own: Toolbox) -> Ask:
        """The first question of a subagent. It begins with what it shares with other questions of the attempt
        (`Ask.stable`).
        """
        brief, agent = self._brief, subagent.definition
        files = [delimited("files", listing(brief.files, brief.remarks))]
        if brief.changed_files:
            files.append(delimited("files", listing(brief.changed_files), "made or changed by earlier steps"))
        task_parts = [delimited("agent", agent.instructions, task.agent), delimited("task", task.task)]
        return Ask(
            role=Role.EXECUTOR,
            model=agent.model or brief.model,
            effort=agent.effort or brief.effort,
            system=prompts.of_subagents(),
            messages=(user(*files, *task_parts),),
            tools=tuple(own.specs()),
            max_tokens=answer_tokens(subagent.window),
            stable=(0, len(files)),
        )


class _SubagentTools:
    """A Toolbox with the tools of the step that a subagent may use: none that delegates, and none that a
    service runs.
    """

    def __init__(self, tools: JournaledToolbox, name: str, subagent: Subagent) -> None:
        self._tools, self._name, self._window = tools, name, subagent.window
        known = [spec for spec in tools.specs() if spec.service is None and spec.name != Delegate.name]
        allowed = permitted(frozenset(spec.name for spec in known), subagent.definition)
        self._specs = [spec for spec in known if spec.name in allowed]

    def specs(self) -> Sequence[ToolSpec]:
        return self._specs

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        return self._tools.originals(use, result)

    def run(self, use: ToolUse) -> ToolResult:
        use = replace(use, agent=self._name)
        names = [spec.name for spec in self._specs]
        if use.name in names:
            return self._tools.run(use)
        there = f"there are {', '.join(names)}" if names else "there are none"
        return self._tools.note(use, ToolResult(f"You have no tool {quoted(use.name)}; {there}.", is_error=True))

    def reply(self, model: Model, first: Ask, rounds: int, calls: CallHistory) -> tuple[Reply, int]:
        """The last one of the conversation, and how many there were. As in `executor.execute`, tools are forbidden in
        the last round, or when calls go in circles, and near the end of the window a new conversation begins.
        """
        ask, room, originals = first, Room(self._window), Originals(self._window)
        for number in count(1):
            if room.is_full(ask):
                ask = begun_again(first, calls, room, "")
                originals.forget()
            is_last = number == rounds or calls.circling
            ask = replace(added(ask, _LAST), last_round=True) if is_last else ask
            reply = model.ask(ask)
            room.heard(ask, reply)
            if not is_last and reply.stop_reason == "tool_use" and reply.tool_uses:
                ask = carried_out(ask, reply, self, calls, originals)
            elif is_last or not room.exceeded(ask):
                break
        return reply, number


def _result_of(name: str, reply: Reply, calls: CallHistory, limit: int) -> ToolResult:
    """The result for the executor: words of another model, which are no source, and the sources that they name."""
    answer, made = reply.text.strip(), _numbers(calls)
    if reply.stop_reason in _ENDED or not answer:
        ended = _ENDED.get(reply.stop_reason, "{} has given no answer. Do this yourself, or leave it out and say so.")
        return ToolResult(f"{ended.format(quoted(name))} {made}".strip(), is_error=True)
    rests = f"{made} Cite these, not its words." if made else "It has made no calls: its words prove nothing."
    return ToolResult(f"{quoted(name)} has answered. {rests}\n{delimited('answer', beginning_of(answer, limit), name)}")


def _numbers(calls: CallHistory) -> str:
    match len(calls.calls):
        case 0:
            return ""
        case 1:
            return f"Its call is @tool-{calls.last}."
        case _:
            return f"Its calls are @tool-{calls.before + 1} to @tool-{calls.last}."
