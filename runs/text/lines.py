"""The lines of a text."""

from collections.abc import Iterator

_PIECE = 250_000


def lines_in(text: str) -> Iterator[str]:
    """`text.split("\\n")` without a last empty line, piece by piece: a list of all takes many times the memory."""
    rest = list[str]()
    for start in range(0, len(text), _PIECE):
        first, *lines = text[start : start + _PIECE].split("\n")
        rest.append(first)
        if lines:
            yield "".join(rest)
            yield from lines[:-1]
            rest = lines[-1:]
    if any(rest):
        yield "".join(rest)
