"""What all contracts rest on: the base class, bounded strings, and the names of the sources that evidence quotes."""

from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
)

type JsonObject = dict[str, JsonValue]

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]

Text = Annotated[str, StringConstraints(max_length=200_000)]

StepId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$")]

Path = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]

RESULT = "@result/"
"""Before a path: the file as the run has left it. A path alone is the file as it was given, where it was given."""

OUTPUT, DIFF, TOOL, PERSON, COMMAND = "@output", "@diff", "@tool-", "@person-", "@command-"
"""The other sources: findings, what changed since a rejection; before a number, tool results and what people said;
before a name, what a command printed that was run as a check. No quote may name the last.
"""

STEP = "@step-"
"""Before the key of a step that was settled before: what its tools showed, as in `@step-look-up/tool-2`."""

MAX_COUNT = 10**12
"""Of bytes or words: no file has so many, and every database can count to it."""

_EMPTY = BeforeValidator(lambda value: "" if value is None else value)

Name = Annotated[str, _EMPTY, StringConstraints(strip_whitespace=True, max_length=500)]
"""What may be left out, as an empty text: each `null` beside a type counts among the few unions that the API allows."""

Confidence = Annotated[float, Field(ge=0, le=1)]
"""Lengths far above what models write when they are well: they keep one field from filling a page or a prompt."""


class Contract(BaseModel):
    """Closed and frozen: an unknown field is an error, not something to be dropped."""

    # Built when first used: a command that prints its help uses none of them.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class QuotedEvidence(Contract):
    """`source` is a path, `@result/` and a path, `@output`, `@tool-N` or `@person-N`; `quote` is verbatim. `statement`:
    the words of the result that the quote supports, verbatim too, where there are such words.
    """

    source: Path
    quote: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
    statement: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] | None = None


MAX_EVIDENCE = 20
"""Quotes for one criterion: what is about each of more things needs a check, since no verifier copies so much."""
