"""The base class of contracts, their JSON Schemas, bounded strings, and names of the sources that evidence quotes."""

import json
import re
from functools import cache
from typing import Annotated, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
)

from runs.text.json_values import objects_in

type JsonObject = dict[str, JsonValue]

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]

Text = Annotated[str, StringConstraints(max_length=200_000)]

StepId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$")]

Path = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]

RESULT = "@result/"
"""Prefix of a path: the file as the run has left it. A path alone means the file as it was given, if it was given."""

OUTPUT, DIFF, TOOL, PERSON, COMMAND = "@output", "@diff", "@tool-", "@person-", "@command-"
"""The other sources: the findings, and the changes since a rejection; with a number, tool results and answers of
people; with a name, the output of a command that was run as a check. Quotes may not name the last.
"""

STEP = "@step-"
"""Prefix of the key of a step that was settled earlier: what its tools showed, as in `@step-look-up/tool-2`."""

MAX_COUNT = 10**12
"""Of bytes or words. No file has so many, and every database can store the number."""

_EMPTY = BeforeValidator(lambda value: "" if value is None else value)

Name = Annotated[str, _EMPTY, StringConstraints(strip_whitespace=True, max_length=500)]
"""Optional text, empty if omitted. A `null` would make the field a union, and the API allows only a few of those."""

Confidence = Annotated[float, Field(ge=0, le=1)]
"""Lengths far above what models normally write. They keep one field from filling a page or a prompt."""


class Contract(BaseModel):
    """The base class of contracts. They are frozen, and unknown fields are errors instead of being dropped."""

    # Built on first use: most commands use none of them.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class QuotedEvidence(Contract):
    """`source` is a path, `@result/` and a path, `@output`, `@tool-N` or `@person-N`; `quote` is verbatim. `statement`:
    the words of the result that the quote supports, verbatim too, where there are such words.
    """

    source: Path
    quote: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
    statement: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] | None = None


MAX_EVIDENCE = 20
"""Quotes for one criterion. Evidence about more things than that needs a check, because no verifier copies so much."""


_NOTHING = re.compile(r"(?:default: , |default: \[\], |, minLength: 1|\{(?:default: (?:\[\])?|minLength: 1)\})")
"""Matches bounds that say nothing when they are moved into a field's description."""


@cache
def schema_for(contract: type[Contract]) -> JsonObject:
    """Returns a JSON Schema in the API's dialect: closed objects, all properties required, no bounds. It must not be
    modified.

    Fields with a default are required too, because the API allows only 24 optional parameters.
    """
    from anthropic import transform_schema  # takes two seconds to import, and only processes that ask a model need it

    schema = cast("JsonObject", transform_schema(contract))
    for node in objects_in(schema):
        if node.get("type") == "object" and isinstance(properties := node.get("properties"), dict):
            node["required"] = list(properties)
    _shorten(schema)
    return schema


def _shorten(node: JsonValue, *, of_names: bool = False) -> None:
    """Removes titles, which repeat the names, and bounds that say nothing. `of_names`: the keys of this node are names
    of fields, and `title` may be one of them.
    """
    if isinstance(node, dict):
        if not of_names:
            node.pop("title", None)
            if isinstance(description := node.get("description"), str):
                node["description"] = _NOTHING.sub("", description).strip()
            if not node.get("description", "said"):
                del node["description"]
        for key, value in node.items():
            _shorten(value, of_names=not of_names and key in {"properties", "$defs"})
    elif isinstance(node, list):
        for value in node:
            _shorten(value)


def schema_in_words(schema: JsonObject) -> str:
    """Returns the schema as text, for the prompt of a model that does not support a response format."""
    return f"Its schema:\n{json.dumps(schema, sort_keys=True, separators=(',', ':'), ensure_ascii=False)}\n"
