"""A call that acts outside as people see it: what it does, as whom, whether it can be undone, and all that is sent."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from runs.acts.facts import MAX_DEPTH, MAX_LABEL, Fact, FactReader, as_json, flattened, properties_of
from runs.acts.field_values import field_shown
from runs.acts.misleading import warnings
from runs.acts.registry import SHAPES
from runs.acts.shape import Field, Remark, Shape, ShapedCall, Wording, canonical, differ
from runs.mcp_client.server_config import CallTerms, ServerTool
from runs.text.plural import list_with_and, pluralize, word_for
from runs.text.truncate import quoted

MAX_OTHERS = 100
"""Arguments outside of a shape that are shown one by one. The rest is shown as JSON."""
MAX_DECISIVE = 4
"""Arguments of a call of unknown shape that are said again before it is carried out."""
MAX_DIFFERENCE = 60
"""Characters of a value that a sentence on a contradiction repeats."""


class _Recognised(NamedTuple):
    """The shape of a call and its fields. `outer` is the one argument that holds the others; empty for none."""

    shape: Shape | None = None
    fields: Sequence[tuple[Field, str]] = ()
    outer: str = ""


@dataclass(frozen=True)
class Call:
    """A call of a tool. `schema`: that of its arguments; `terms`: what an administrator says about it.

    `again`: it may have been carried out before. `files`: the paths of files that an attachment may name.
    """

    server: str
    tool: str
    arguments: Mapping[str, Any]
    schema: Mapping[str, Any] = field(default_factory=dict)
    terms: CallTerms = field(default_factory=CallTerms)
    again: bool = False
    files: Collection[str] = ()

    @cached_property
    def wording(self) -> Wording:
        shape = self._recognised.shape
        found = shape.wording_for(self.tool) if shape else None
        if found is None:
            what = f"“{self.tool}” on {self.server}" if self.server else f"“{self.tool}”"
            found = Wording(f"Carry out {what}?", "Carry out", "Don’t carry out", f"carrying out {what}")
        elif shape and self._shaped:
            found = shape.worded(self._shaped, found)
        return replace(found, question=f"{found.question[:-1]} again?") if self.again else found

    @property
    def shape(self) -> str:
        """The name of the shape; empty if its shape is not known."""
        return self._recognised.shape.name if self._recognised.shape else ""

    @property
    def undo(self) -> Remark:
        """Whether it can be undone: as the administrator says, else by its shape."""
        terms = _with_undo(self.terms, self.wording)
        return Remark("good" if terms.can_be_undone else "warn", terms.undo)

    @property
    def is_final(self) -> bool:
        """Whether it cannot be undone."""
        return _with_undo(self.terms, self.wording).can_be_undone is False

    @property
    def account(self) -> Remark:
        """As whom it acts."""
        if self.terms.account:
            return Remark("calm", "In the name of", self.terms.account)
        which = f"which account “{self.server}” uses" if self.server else "which account is used"
        return Remark("warn", "In whose name: unknown", f"The administrator has not said {which}.")

    @property
    def missing_terms(self) -> str:
        """What an administrator can still say about it, as the object of a sentence; empty if nothing is missing."""
        missing = [] if self.terms.account else [f"whose account “{self.server}” uses (account)"]
        if self.terms.can_be_undone is None:
            missing.append(f"whether “{self.tool}” can be undone (can_be_undone)")
        return " and ".join(missing) if self.server else ""

    @property
    def misleading(self) -> list[Remark]:
        """What in it is hidden or looks like something else."""
        hidden = [Remark("bad", "Look closely", sentence) for sentence in self.hidden]
        return [*(Remark("bad", "Contradiction", sentence) for sentence in self.contradictions), *hidden]

    @cached_property
    def contradictions(self) -> list[str]:
        """The fields that several arguments mean with different values, as sentences that show all of them. The
        arguments next to the object that holds the fields may mean them as well.
        """
        _, fields, outer = self._recognised
        inner = self.arguments[outer] if outer else self.arguments
        used = {name for _, name in fields}
        unused = [(name, value) for name, value in inner.items() if name not in used]
        unused += [(name, value) for name, value in self.arguments.items() if outer and name != outer]
        found = []
        for one in dict.fromkeys(one for one, _ in fields):
            meant = [(name, inner[name]) for other, name in fields if other == one]
            meant += [(name, value) for name, value in unused if canonical(name) in one.names]
            if differ(value for _, value in meant):
                said = list_with_and([f"{_shortly(value)} ({name[:MAX_LABEL]})" for name, value in meant])
                found.append(
                    f"“{one.label}” is given {len(meant):,} times with different values: {said}. Which of them counts "
                    "is not known."
                )
        return found

    @cached_property
    def effects(self) -> tuple[Remark, ...]:
        """What it does, as far as its shape says that."""
        shape = self._recognised.shape
        said = tuple(shape.remarks(self._shaped)) if shape and self._shaped else ()
        secrets = sum(fact.secrets for fact in self.fields)
        if not secrets:
            return said
        hidden = f"{pluralize(secrets, 'value')} that {word_for(secrets, 'looks', 'look')} like keys or passwords"
        return (*said, Remark("warn", "Sent but not shown", f"{hidden}: only their length and fingerprint are below"))

    @property
    def said_again(self) -> list[Remark]:
        """What is said again before it is carried out, if it cannot be undone."""
        return [*self.misleading, *self.effects, self.undo]

    def remarks(self, reasons: Iterable[Remark] = ()) -> list[Remark]:
        """All that people should know before they read the fields, what is misleading first."""
        return [*self.misleading, *self.effects, *reasons, self.undo, self.account]

    @cached_property
    def fields(self) -> tuple[Fact, ...]:
        """The fields of the shape, in its order."""
        return self._shown[0]

    @cached_property
    def others(self) -> tuple[Fact, ...]:
        """All other arguments."""
        return self._shown[1]

    @property
    def texts(self) -> list[Fact]:
        """The long fields. They are shown last, so that they push nothing else out of view (G7)."""
        return [fact for fact in self.fields if fact.excerpt]

    @property
    def short_fields(self) -> list[Fact]:
        return [fact for fact in self.fields if not fact.excerpt]

    @property
    def decisive(self) -> list[Fact]:
        """What is said again before it is carried out, if it cannot be undone: who gets it, and how much of it."""
        labels = {one.label for one, _ in self._recognised.fields if one.is_decisive}
        if self._recognised.shape is None:
            return list(self.others[:MAX_DECISIVE])
        return [fact for fact in self.short_fields if fact.label.partition(": ")[0] in labels]

    @cached_property
    def json(self) -> str:
        return as_json(dict(self.arguments))

    @cached_property
    def hidden(self) -> list[str]:
        """What cannot be seen or may be misread, as sentences that name the field."""
        _, fields, outer = self._recognised
        inner = self.arguments[outer] if outer else self.arguments
        labels = {name: one.label for one, name in fields}
        facts = [(labels.get(name) or FactReader().named(name, "", None).label, name, inner[name]) for name in inner]
        if outer:
            facts += [(name, name, value) for name, value in self.arguments.items() if name != outer]
        return [said for label, name, value in facts for said in warnings(label, {name: value})]

    def lines(self, reasons: Iterable[Remark] = ()) -> Iterator[str]:
        """For a terminal. `reasons`: what is known about why it is made."""
        if self.terms.does:
            yield self.terms.does
        yield from (remark.line for remark in self.remarks(reasons))
        yield f"Tool: {self.tool}{f' of the server {self.server}' if self.server else ''}"
        for fact in [*self.fields, *self.others]:
            yield from fact.lines()

    @cached_property
    def _shaped(self) -> ShapedCall | None:
        """The arguments by the labels of their shape."""
        shape, fields, outer = self._recognised
        if shape is None:
            return None
        schemas = properties_of(self.schema)
        labelled = {one.label: [name for other, name in fields if other == one] for one, _ in fields}
        if outer:
            return ShapedCall(self.tool, self.arguments[outer], properties_of(schemas.get(outer)), labelled)
        return ShapedCall(self.tool, self.arguments, schemas, labelled)

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
        reader, schemas = FactReader(files=self.files), properties_of(self.schema)
        inner, inner_schemas = self.arguments, schemas
        if outer:
            inner, inner_schemas = self.arguments[outer], properties_of(schemas.get(outer))
        labels = Counter(one.label for one, _ in fields)
        shown = [
            # Two arguments may mean the same field, such as `to` and `email`: then their names tell them apart.
            field_shown(reader, one, name if labels[one.label] > 1 else "", inner[name], inner_schemas.get(name))
            for one, name in fields
        ]
        used = {name for _, name in fields}
        others = _others(reader, {name: one for name, one in inner.items() if name not in used}, inner_schemas)
        if outer:
            others += _others(reader, {name: one for name, one in self.arguments.items() if name != outer}, schemas)
        return tuple(flattened(shown)), tuple(flattened(others))


def terms_by_shape(tool: ServerTool, terms: CallTerms) -> CallTerms:
    """What is known about calls of a tool before it is called: what the administrator says, else what its name and the
    properties of its schema say.
    """
    known = properties_of(tool.schema)
    found = [(shape, fields) for shape in SHAPES if (fields := shape.fields_of_schema(known))]
    if not found:
        return terms
    shape, _ = max(found, key=lambda one: len(one[1]))
    return _with_undo(terms, shape.wording_for(tool.name))


def _with_undo(terms: CallTerms, wording: Wording | None) -> CallTerms:
    is_final = terms.can_be_undone is None and wording is not None and wording.is_final
    return replace(terms, can_be_undone=False) if is_final else terms


def _shortly(value: object) -> str:
    return quoted(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), MAX_DIFFERENCE)


def _best(arguments: Mapping[str, Any], schemas: Mapping[str, Any]) -> tuple[Shape, Sequence[tuple[Field, str]]] | None:
    """The shape with the most fields among the arguments, the earlier one of two that are equal."""
    found = [(shape, fields) for shape in SHAPES if (fields := shape.fields_in(arguments, schemas))]
    return max(found, key=lambda one: len(one[1]), default=None)


def _others(reader: FactReader, members: Mapping[str, Any], schemas: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The members one by one, and in one JSON text what exceeds MAX_OTHERS."""
    names = list(members)
    facts = [reader.named(name, members[name], schemas.get(name)) for name in names[:MAX_OTHERS]]
    if rest := names[MAX_OTHERS:]:
        more = {name: members[name] for name in rest}
        facts.append(reader.fact(pluralize(len(more), "more argument"), more, depth=MAX_DEPTH))
    return tuple(facts)
