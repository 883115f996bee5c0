"""What a known shape of call declares: how its arguments are recognised, its words, its fields, and what they mean."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from runs.text.normalisation import caseless


def names(words: str) -> frozenset[str]:
    """Names of properties, or verbs, from a line of words."""
    return frozenset(words.split())


_SEPARATORS = re.compile(r"[^a-z0-9]+")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

TEXT = frozenset({"string"})
TEXTS = frozenset({"string", "array"})
PEOPLE = frozenset({"string", "array", "object"})
MOMENT = frozenset({"string", "integer", "number", "object"})
DETAILS = frozenset({"string", "array", "object"})
"""The JSON types that a field takes. Another type is not recognised, so that the call is shown in the general form."""

CHANGING_VERBS = names(
    "approve archive cancel change clear close convert copy delete discard draft duplicate edit export forward import "
    "invite link lock merge move patch publish purge put recall refund rename reopen replace restore schedule set "
    "share sign subscribe sync transfer transition trash undo unlink update upsert validate"
)
"""Verbs in the name of a tool that may make it do something else than its arguments suggest. Where a shape has no words
for one, the general question is asked, which promises nothing.
"""


@dataclass(frozen=True)
class Field:
    """One thing that a shape shows. `names` are those of the properties that mean it, as `canonical` returns them.

    `is_moment`: a date and time, which is shown with its weekday. `has_files`: names of files. `secrets`: names of
    members whose values are keys or passwords. `is_decisive`: it is said again before a call that cannot be undone.
    """

    label: str
    names: frozenset[str]
    types: frozenset[str] = TEXT
    is_moment: bool = False
    has_files: bool = False
    secrets: frozenset[str] = frozenset()
    is_decisive: bool = False

    def takes(self, name: str, value: object, schema: object) -> bool:
        """Whether a property means this. Both its value and the type in its schema, if it has one, have to fit."""
        return type_of_json(value) in self.types and self.is_of(name, schema)

    def is_of(self, name: str, schema: object) -> bool:
        """Whether the name of a property and the type in its schema, if it has one, fit."""
        declared = declared_types(schema)
        return canonical(name) in self.names and (not declared or bool(declared & self.types))


@dataclass(frozen=True)
class Wording:
    """What a call does, in words. `verbs` in the name of the tool choose it; `doing` is the object of a sentence.

    `is_final`: it leaves the house, and what has left cannot be called back.
    """

    question: str
    yes: str
    no: str
    doing: str
    verbs: frozenset[str] = frozenset()
    is_final: bool = False


class Remark(NamedTuple):
    """A line about a call: how severe it is (`bad`, `warn`, `calm`, `good`), its subject, and what is said about it."""

    mark: str
    subject: str
    words: str = ""

    @property
    def lead(self) -> str:
        """The subject with what leads to the words."""
        return f"{self.subject}{'.' if ': ' in self.subject else ':'}" if self.words else self.subject

    @property
    def line(self) -> str:
        """For a terminal."""
        said = f"{self.lead} {self.words}".rstrip()
        return f"! {said}" if self.mark in ("bad", "warn") else said


@dataclass(frozen=True)
class ShapedCall:
    """A call of a known shape: the name of its tool, its arguments with their schemas, and the names of the arguments
    that each label stands for.
    """

    tool: str
    arguments: Mapping[str, Any]
    schemas: Mapping[str, Any]
    labelled: Mapping[str, Sequence[str]]

    def values(self, label: str) -> list[object]:
        """The values of a field, one for each argument that means it."""
        return [self.arguments[name] for name in self.labelled.get(label, ())]

    def value(self, label: str) -> object:
        """The value of a field, the first of several; None if the call does not have it."""
        return next(iter(self.values(label)), None)

    def differs(self, label: str) -> bool:
        """Whether two arguments that mean this field have different values, so that none of them can be relied on."""
        return differ(self.values(label))

    def text(self, label: str) -> str:
        """The value of a field without spaces around it; empty if it is no text."""
        value = self.value(label)
        return value.strip() if isinstance(value, str) else ""

    def called(self, known: Collection[str]) -> object:
        """The value of the first argument with one of these names; None if there is none."""
        return next((value for name, value in self.arguments.items() if canonical(name) in known), None)


def _nothing(call: ShapedCall) -> Iterable[Remark]:
    return ()


def _unchanged(call: ShapedCall, wording: Wording) -> Wording:
    return wording


@dataclass(frozen=True)
class Shape:
    """A known shape of call. The first of `wordings` holds where no verb in the name of the tool says otherwise.

    Arguments have this shape if for each group in `needs` one of the fields with these labels is there, and none of
    them is called as in `unlike`. `markers`: property names, one of which has to be an argument or in the schema.

    `remarks`: what people should know before they read the fields. `worded`: the words of a call whose arguments say
    what it does. `needs_verb`: without a verb of the wordings in the name of the tool, the general question is asked.
    """

    name: str
    fields: tuple[Field, ...]
    needs: tuple[frozenset[str], ...]
    wordings: tuple[Wording, ...]
    markers: frozenset[str] = frozenset()
    unlike: frozenset[str] = frozenset()
    remarks: Callable[[ShapedCall], Iterable[Remark]] = _nothing
    worded: Callable[[ShapedCall, Wording], Wording] = _unchanged
    needs_verb: bool = False

    def fields_in(self, arguments: Mapping[str, Any], schemas: Mapping[str, Any]) -> Sequence[tuple[Field, str]]:
        """The fields with the names of their arguments, in the order of the shape; none if the shape is another."""
        known = {canonical(name) for name in [*arguments, *schemas]}
        if known & self.unlike or (self.markers and not known & self.markers):
            return ()
        found = list(self._found(arguments, schemas))
        labels = {field.label for field, _ in found}
        return found if all(group & labels for group in self.needs) else ()

    def fields_of_schema(self, schemas: Mapping[str, Any]) -> Sequence[Field]:
        """The fields that calls with these properties can have; none if the shape is another."""
        known = {canonical(name) for name in schemas}
        if known & self.unlike or (self.markers and not known & self.markers):
            return ()
        found = [field for field in self.fields if any(field.is_of(name, schemas[name]) for name in schemas)]
        labels = {field.label for field in found}
        return found if all(group & labels for group in self.needs) else ()

    def _found(self, arguments: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[tuple[Field, str]]:
        left = list(arguments)
        for field in self.fields:
            for name in list(left):
                if field.takes(name, arguments[name], schemas.get(name)):
                    left.remove(name)
                    yield field, name

    def wording_for(self, tool: str) -> Wording | None:
        """The words for a tool of this name; None if its name says that it does something else."""
        words = set(words_of(tool))
        for wording in self.wordings:
            if words & wording.verbs:
                return None if words & CHANGING_VERBS - wording.verbs else wording
        return None if self.needs_verb or words & CHANGING_VERBS else self.wordings[0]


def differ(values: Iterable[object]) -> bool:
    """Whether the values are not all the same. A list of one entry is that entry; spaces and capitals do not count."""
    return len({_comparable(value) for value in values}) > 1


def _comparable(value: object) -> str:
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    return caseless(" ".join((value if isinstance(value, str) else json.dumps(value, sort_keys=True)).split()))


def canonical(name: str) -> str:
    """A name without separators and capitals: `toRecipients`, `to_recipients` and `to-recipients` are one."""
    return _SEPARATORS.sub("", name.lower())


def words_of(name: str) -> Collection[str]:
    """The words of a name in small letters."""
    return _SEPARATORS.sub(" ", _CAPITAL.sub(" ", name).lower()).split()


def type_of_json(value: object) -> str:
    match value:
        case str():
            return "string"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "null"


def declared_types(schema: object) -> frozenset[str]:
    """The types that a schema names, also those of its alternatives; empty if it names none or refers elsewhere."""
    if not isinstance(schema, Mapping):
        return frozenset()
    declared = schema.get("type")
    if isinstance(declared, str):
        return frozenset({declared})
    if isinstance(declared, list):
        return frozenset(one for one in declared if isinstance(one, str))
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if not isinstance(alternatives, list) or not all(isinstance(one, Mapping) for one in alternatives):
        return frozenset()
    kinds = [one.get("type") for one in alternatives]
    return frozenset(kinds) if all(isinstance(kind, str) for kind in kinds) else frozenset()
