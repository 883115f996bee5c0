"""Where prompts are cut for the service's cache: after what a later question will begin with again.

A write costs a quarter more than plain input and a read a tenth of it, so a prefix pays as soon as it is likelier
than one in four that it is read within five minutes. An hour would cost twice the input; few prefixes are read again
after five minutes and within the hour, since every read keeps an entry alive for five minutes more.
"""

from typing import Any

from runs.contracts.ports import Ask

MAX_BREAKPOINTS = 4
"""Breakpoints that a request may have."""
_MARK = {"type": "ephemeral", "ttl": "5m"}
_SYSTEM = (-1, 0)


def mark_prefixes(sent: dict[str, Any], ask: Ask) -> None:
    """Put breakpoints into the request. The blocks of the conversation itself stay as they are."""
    for message, block in _ends(ask):
        if (message, block) == _SYSTEM:
            _mark(sent["system"], block)
        else:
            changed = dict(sent["messages"][message])
            changed["content"] = list(changed["content"])
            _mark(changed["content"], block)
            sent["messages"][message] = changed


def _mark(blocks: list[Any], block: int) -> None:
    blocks[block] = {**blocks[block], "cache_control": _MARK}


def _ends(ask: Ask) -> list[tuple[int, int]]:
    """The last blocks of prefixes, as message and block. The longest four, if there are more.

    A conversation with tools grows: its first message is what a retry begins with, its last one what the next round
    begins with, and the one before is marked again because the service looks back over twenty blocks only.
    A last round that forbids tools shares no message with any other question.
    """
    ends = {_SYSTEM if count == 0 else (0, count - 1) for count in ask.stable}
    if ask.last_round:
        return sorted(ends & {_SYSTEM})
    if ask.tools:
        user_turns = [number for number, message in enumerate(ask.messages) if message["role"] == "user"]
        ends |= {(number, _length(ask, number) - 1) for number in (user_turns[0], *user_turns[-2:])}
    return sorted(ends)[-MAX_BREAKPOINTS:]


def _length(ask: Ask, number: int) -> int:
    content: Any = ask.messages[number]["content"]
    return len(content)
