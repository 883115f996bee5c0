"""The dialogue that gets a valid answer from a model: ask, validate, name the errors, ask again."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from pydantic import ValidationError

from runs.contracts.base import Contract, JsonObject
from runs.contracts.ports import Ask, Model, Reply
from runs.errors import ContractBroken, Unusable
from runs.pev.conversation.generous import Read, read_json
from runs.pev.conversation.mistakes import mistakes_in

CUT_OFF = "The answer was cut off at the length limit"
CORRECTIONS = 2
"""How often a model is asked again with its errors before the failure is recorded. Each time is a paid call."""

EXCEEDED = "model_context_window_exceeded"
_TAG = re.compile(r"^<[a-z_]+-([0-9a-f]{16})\b", re.MULTILINE)


def ask_for[Answer: Contract](
    model: Model,
    ask: Ask,
    contract: type[Answer],
    problems_with: Callable[[Answer], list[str]] = lambda _: [],
    first: Callable[[Ask], tuple[Ask, Reply]] | None = None,
) -> Read[Answer]:
    """A valid answer that `problems_with` has nothing to say against. `first`: how the first reply is got, and what
    was asked by then, where it is not the reply to this question.

    Raises ContractBroken with the last errors when the model refuses or stays invalid, and ModelError
    when there is no reply at all.
    """
    errors: list[str] = []
    ask, reply = first(ask) if first else (ask, model.ask(ask))
    for number in range(1 + CORRECTIONS):
        if number:
            reply = model.ask(ask)
        given, errors = read(reply, contract, ask)
        if given is not None:
            errors = problems_with(given.answer)
            if not errors:
                return given
        ask = corrected(ask, reply, errors)
    raise Unusable(f"The {ask.role} did not give a usable answer in {1 + CORRECTIONS} tries.", tuple(errors))


def read[Answer: Contract](reply: Reply, contract: type[Answer], ask: Ask) -> tuple[Read[Answer] | None, list[str]]:
    """The validated answer to this question, or None and the error. Raises ContractBroken for a refusal."""
    if reply.stop_reason == "refusal":
        raise ContractBroken("The model refused to answer.", (reply.text[:500] or "It gave no reason.",))
    if reply.stop_reason == EXCEEDED:
        raise ContractBroken("The question was longer than the model can read.", ())
    if reply.stop_reason == "max_tokens":
        return None, [f"{CUT_OFF}. Answer again, much shorter."]
    text = unwrapped(reply.text)
    try:
        return read_json(text, contract, lambda: _tags_in(ask)), []
    except ValidationError as error:
        return None, mistakes_in(text, contract, error)


def _tags_in(ask: Ask) -> Collection[str]:
    """The tags of the delimiters in a question."""
    contents = [message["content"] for message in ask.messages]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return {tag for text in texts if isinstance(text, str) for tag in _TAG.findall(text)}


def corrected(ask: Ask, reply: Reply, errors: list[str]) -> Ask:
    """The conversation so far and the errors, as the next question. Earlier messages stay as they are."""
    asked = user(reproach(errors))
    before: tuple[JsonObject, ...] = ()
    if reply.content and not reply.tool_uses:
        before = (assistant(reply),)
    return replace(ask, messages=(*ask.messages, *before, asked))


def reproach(errors: Sequence[str]) -> str:
    """The message to a model whose answer cannot be used."""
    message = "Your answer cannot be used:\n" + "\n".join(f"- {error}" for error in errors)
    return f"{message}\nAnswer again with one JSON object that fixes exactly this and has the form that you were given."


def added(ask: Ask, text: str) -> Ask:
    """The question with one more text at its end, in its last message unless that is the model's."""
    block: JsonObject = {"type": "text", "text": text}
    last = ask.messages[-1]
    if last["role"] != "user":
        return replace(ask, messages=(*ask.messages, {"role": "user", "content": [block]}))
    return replace(ask, messages=(*ask.messages[:-1], with_blocks(last, [block])))


def assistant(reply: Reply) -> JsonObject:
    """The reply as a message of the conversation, unchanged. `sendable` rewrites what the API refuses."""
    return {"role": "assistant", "content": list(reply.content)}


def unwrapped(text: str) -> str:
    """The text without a Markdown code fence around it, which servers without structured output add."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```") and "\n" in stripped:
        return stripped[stripped.index("\n") + 1 : -3].strip()
    return stripped


def with_blocks(message: JsonObject, blocks: Sequence[JsonObject]) -> JsonObject:
    """A message of our own with more blocks at its end."""
    content = message["content"]
    assert isinstance(content, list)  # all messages are made here
    return {**message, "content": [*content, *blocks]}


def user(*parts: str) -> JsonObject:
    """One user message of several text blocks."""
    return {"role": "user", "content": [{"type": "text", "text": part} for part in parts if part.strip()]}
