"""A call that acts outside as people see it: what it does, as whom, whether it can be undone, and all that is sent."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from runs.acts.facts import MAX_DEPTH, Fact, FactReader, as_json, properties_of, strings_in
from runs.acts.registry import SHAPES
from runs.acts.shape import Field, Shape, Wording
from runs.mcp_client.server_config import CallTerms
from runs.text.plural import pluralize
from runs.text.visible import remarks

MAX_OTHERS = 100
"""Arguments outside of a shape that are shown one by one. The rest is shown as JSON."""


class _Recognised(NamedTuple):
    """The shape of a call and its fields. `outer` is the one argument that holds the others; empty for none."""

    shape: Shape | None = None
    fields: Sequence[tuple[Field, str]] = ()
    outer: str = ""


@dataclass(frozen=True)
class Call:
    """A call of a tool. `schema`: that of its arguments; `terms`: what an administrator says about it.

    `again`: it may have been carried out before.
    """

    server: str
    tool: str
    arguments: Mapping[str, Any]
    schema: Mapping[str, Any] = field(default_factory=dict)
    terms: CallTerms = field(default_factory=CallTerms)
    again: bool = False

    @cached_property
    def wording(self) -> Wording:
        shape = self._recognised.shape
        found = shape.wording_for(self.tool) if shape else None
        if found is None:
            what = f"“{self.tool}” on {self.server}" if self.server else f"“{self.tool}”"
            found = Wording(f"Carry out {what}?", "Carry out", "Don’t carry out", f"carrying out {what}")
        return replace(found, question=f"{found.question[:-1]} again?") if self.again else found

    @property
    def shape(self) -> str:
        """The name of the shape; empty if its shape is not known."""
        return self._recognised.shape.name if self._recognised.shape else ""

    @property
    def account(self) -> str:
        """As whom it acts, and through what."""
        account = self.terms.account or "not named by the administrator"
        return f"{account} (server {self.server}, tool {self.tool})" if self.server else f"{account} (tool {self.tool})"

    @cached_property
    def fields(self) -> tuple[Fact, ...]:
        """The fields of the shape, in its order."""
        return self._shown[0]

    @cached_property
    def others(self) -> tuple[Fact, ...]:
        """All other arguments."""
        return self._shown[1]

    @cached_property
    def json(self) -> str:
        return as_json(dict(self.arguments))

    @cached_property
    def hidden(self) -> list[str]:
        """Parts that cannot be seen or may be misread, as sentences."""
        return remarks("\n".join(strings_in(dict(self.arguments))))

    def lines(self) -> Iterator[str]:
        """For a terminal."""
        if self.terms.does:
            yield self.terms.does
        yield f"{'' if self.terms.can_be_undone else '! '}{self.terms.undo}"
        yield f"Account: {self.account}"
        yield from (f"! {sentence}" for sentence in self.hidden)
        for fact in [*self.fields, *self.others]:
            yield from fact.lines()

    @cached_property
    def _recognised(self) -> _Recognised:
        """The shape that explains most arguments. If none fits, the only object among them is looked into: some servers
        take all arguments in one.
        """
        schemas = properties_of(self.schema)
        if found := _best(self.arguments, schemas):
            return _Recognised(*found)
        objects = [name for name, value in self.arguments.items() if isinstance(value, dict) and value]
        if len(objects) == 1:
            (outer,) = objects
            if found := _best(self.arguments[outer], properties_of(schemas.get(outer))):
                return _Recognised(*found, outer)
        return _Recognised()

    @cached_property
    def _shown(self) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
        _, fields, outer = self._recognised
        reader, schemas = FactReader(), properties_of(self.schema)
        inner, inner_schemas = self.arguments, schemas
        if outer:
            inner, inner_schemas = self.arguments[outer], properties_of(schemas.get(outer))
        labels = Counter(one.label for one, _ in fields)
        shown = tuple(
            # Two arguments may mean the same field, such as `to` and `email`: then their names tell them apart.
            _field_shown(reader, one, name if labels[one.label] > 1 else "", inner[name], inner_schemas.get(name))
            for one, name in fields
        )
        used = {name for _, name in fields}
        others = _others(reader, {name: one for name, one in inner.items() if name not in used}, inner_schemas)
        if outer:
            others += _others(reader, {name: one for name, one in self.arguments.items() if name != outer}, schemas)
        return shown, others


def _best(arguments: Mapping[str, Any], schemas: Mapping[str, Any]) -> tuple[Shape, Sequence[tuple[Field, str]]] | None:
    """The shape with the most fields among the arguments, the earlier one of two that are equal."""
    found = [(shape, fields) for shape in SHAPES if (fields := shape.fields_in(arguments, schemas))]
    return max(found, key=lambda one: len(one[1]), default=None)


def _field_shown(reader: FactReader, one: Field, name: str, value: object, schema: object) -> Fact:
    """A field with the label of its shape, and `name` next to it."""
    fact = reader.fact(one.label, value, schema, name=name)
    if not one.is_moment:
        return fact
    parts = tuple(replace(part, note=_moment_in_words(part.words) or part.note) for part in fact.parts)
    return replace(fact, note=_moment_in_words(fact.words) or fact.note, parts=parts)


def _others(reader: FactReader, members: Mapping[str, Any], schemas: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The members one by one, and in one JSON text what exceeds MAX_OTHERS."""
    names = list(members)
    facts = [reader.named(name, members[name], schemas.get(name)) for name in names[:MAX_OTHERS]]
    if rest := names[MAX_OTHERS:]:
        more = {name: members[name] for name in rest}
        facts.append(reader.fact(pluralize(len(more), "more argument"), more, depth=MAX_DEPTH))
    return tuple(facts)


def _moment_in_words(text: str) -> str:
    """`Tuesday 1 December 2026, 09:00`; empty for a text in another form than ISO 8601."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return ""
    day = f"{moment:%A} {moment.day} {moment:%B} {moment.year}"
    return day if len(text) <= len("2026-12-01") else f"{day}, {moment:%H:%M}"
