"""Any JSON value in a form that people read: labels, words, lists and nested facts. Nothing is left out.

| value | shown as |
|---|---|
| text | itself; several lines or a long one as an excerpt with its length |
| `true`, `false`, `null` | yes, no, nothing |
| list, object | an entry or a labelled fact for each member; of an object in an object, with both labels |
| a key or password, where a shape names it as one | its length and a fingerprint |
| what lies deeper than MAX_DEPTH, or comes after MAX_FACTS members | an excerpt of its JSON |
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from runs.acts.excerpt import Excerpt
from runs.text.json_values import is_nested_deeper
from runs.text.plural import pluralize
from runs.text.truncate import truncate_line

MAX_DEPTH = 4
"""Levels of nested facts."""
MAX_FACTS = 300
"""Members of lists and objects in one call that get an element of their own on the page."""
MAX_WORD = 160
"""Characters of a text without line breaks that is shown in the line of its label."""
MAX_LABEL = 60
MAX_IN_LINE, MAX_SHORT = 4, 60
"""Members of an object, and characters of each, that are shown on one line."""
MAX_SHOWN = 12
"""Entries of a list that are not folded."""
_MAX_INDENTED = 50
"""Levels up to which JSON is indented: Python's encoder calls itself for each level when it indents."""
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ACRONYMS = re.compile(r"\b(?:api|bic|csv|html|iban|id|ip|json|pdf|sms|uri|url|vat|xml)\b", re.IGNORECASE)
ADDRESS = re.compile(r"[^\s@]+@[^\s@]+|[a-zA-Z][a-zA-Z0-9+.-]*://\S+")
"""An address of mail or of the web."""


@dataclass(frozen=True)
class Fact:
    """A labelled value. `name` is the argument's own name where the label does not say it, else empty.

    A short value is `words`, with a `note` for what they do not say; a long one is an `excerpt`, which is JSON if
    `is_json`. `parts` are members of a list, without labels, or of an object. `file`: the path of the file
    of the run that it names; `is_no_file`: it names one that the run does not have. `is_secret`: its value is not
    shown.
    """

    label: str
    name: str = ""
    words: str = ""
    note: str = ""
    excerpt: Excerpt | None = None
    is_json: bool = False
    is_list: bool = False
    parts: tuple["Fact", ...] = ()
    file: str = ""
    is_no_file: bool = False
    is_secret: bool = False

    @property
    def is_line(self) -> bool:
        """Whether it consists of a few short values, which fit on a line: an object, or a list of numbers."""
        few = 0 < len(self.parts) <= MAX_IN_LINE * (1 + self.is_list)
        if not few or (self.is_list and not all(part.words.isnumeric() for part in self.parts)):
            return False
        return all(len(part.words) <= MAX_SHORT and not (part.parts or part.excerpt) for part in self.parts)

    @property
    def secrets(self) -> int:
        """How many values in it are not shown."""
        return self.is_secret + sum(part.secrets for part in self.parts)

    @property
    def is_address(self) -> bool:
        """Whether it is an address of mail or of the web, which is read from left to right in every script."""
        return bool(ADDRESS.fullmatch(self.words))

    @property
    def is_large(self) -> bool:
        """Whether it needs the whole width of a narrow page."""
        inner = self.parts if self.is_list else (self,)
        return bool(self.excerpt) or any(one.excerpt or (one.parts and not one.is_line) for one in inner)

    def lines(self, indent: str = "") -> Iterator[str]:
        """For a terminal. Long values are shortened, with a note where to find the rest."""
        named = f"{self.label} ({self.name})" if self.name else self.label
        note = f" ({self.note})" if self.note else ""
        if self.excerpt:
            yield f"{indent}{named or '-'}{note}:"
            yield from (f"{indent}    {line}" for line in self.excerpt.head.split("\n"))
            if self.excerpt.middle:
                yield f"{indent}    … {self.excerpt.left_out} more, which the page of the run shows …"
                yield from (f"{indent}    {line}" for line in self.excerpt.tail.split("\n"))
        elif self.parts:
            yield f"{indent}{named}{note}:" if named else f"{indent}-"
            for part in self.parts[:MAX_SHOWN] if self.is_list else self.parts:
                yield from part.lines(f"{indent}    ")
            if self.is_list and (more := len(self.parts) - MAX_SHOWN) > 0:
                yield f"{indent}    … {more:,} more, which the page of the run shows …"
        else:
            yield f"{indent}{f'{named}:' if named else '-'} {self.words}{note if self.words else note[1:]}"


def label_of(name: str, schema: object) -> tuple[str, str]:
    """The label of a property, and its name if the label does not say it. `schema`: that of the property."""
    plain = " ".join(_CAPITAL.sub(" ", name).replace("_", " ").replace("-", " ").split()).lower() or name
    title = schema.get("title") if isinstance(schema, Mapping) else None
    label = truncate_line(title, MAX_LABEL) if isinstance(title, str) and title.strip() else ""
    if not label or label.lower() == plain:
        plain = _ACRONYMS.sub(lambda found: found[0].upper(), plain)
        label = truncate_line(plain[:1].upper() + plain[1:], MAX_LABEL)
        return label, name if len(plain) > MAX_LABEL else ""
    return label, name


@dataclass(frozen=True)
class Secret:
    """Stands for a key or password, of which only the length and a fingerprint are shown. `scheme`: the word before it,
    such as Bearer.
    """

    text: str
    scheme: str = ""

    @property
    def words(self) -> str:
        length, digest = pluralize(len(self.text), "character"), hashlib.sha256(self.text.encode(errors="replace"))
        return (
            f"a key or password of {length} with the fingerprint {digest.hexdigest()[:8]}, which only the technical "
            "details show"
        )


def flattened(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The facts, with a fact for each member instead of an object: `Schedule: limits, times`. Objects that fit on a
    line, and entries of lists, stay.
    """
    for fact in facts:
        if not fact.parts or fact.is_list or fact.is_line:
            yield fact
            continue
        named = f"{fact.label} ({fact.name})" if fact.name else fact.label
        for part in fact.parts:
            own = part.label if part.label[1:2].isupper() else f"{part.label[:1].lower()}{part.label[1:]}"
            label = f"{named}{', ' if ': ' in named else ': '}{own}"
            yield from flattened([replace(part, label=label)])


@dataclass
class FactReader:
    """Reads the values of one call. Members beyond MAX_FACTS are shown as JSON, so that a page stays bounded.

    `files`: the paths of files that attachments may name.
    """

    left: int = field(default=MAX_FACTS)
    files: Collection[str] = ()

    def fact(self, label: str, value: object, schema: object = None, *, name: str = "", depth: int = 0) -> Fact:
        match value:
            case str():
                return _text(label, name, value)
            case bool():
                return Fact(label, name, "Yes" if value else "No")
            case None:
                return Fact(label, name, note="nothing")
            case Secret():
                return Fact(label, name, value.scheme, note=value.words, is_secret=True)
            case int() | float():
                return Fact(label, name, json.dumps(value))
            case list() | dict() if not value:
                return Fact(label, name, note="empty list" if isinstance(value, list) else "nothing")
            case list() | dict() if depth >= MAX_DEPTH or len(value) > self.left:
                return _as_json(label, name, value)
            case list():
                self.left -= len(value)
                items = schema.get("items") if isinstance(schema, Mapping) else None
                parts = tuple(self.fact("", one, items, depth=depth + 1) for one in value)
                note = f"{len(value):,}" if len(value) > 1 else ""
                if value and all(isinstance(one, int | float) and not isinstance(one, bool) for one in value):
                    note = f"{pluralize(len(value), 'number')}; the call does not say in which unit"
                return Fact(label, name, note=note, is_list=True, parts=parts)
            case dict():
                self.left -= len(value)
                inner = properties_of(schema)
                parts = tuple(self.named(key, one, inner.get(key), depth=depth + 1) for key, one in value.items())
                return Fact(label, name, parts=parts)
            case _:
                return _as_json(label, name, value)

    def named(self, name: str, value: object, schema: object, *, depth: int = 0) -> Fact:
        label, own_name = label_of(name, schema)
        return self.fact(label, value, schema, name=own_name, depth=depth)


def properties_of(schema: object) -> Mapping[str, Any]:
    """The schemas of the properties of an object; empty if its schema names none."""
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def as_json(value: object) -> str:
    """The value as JSON, indented unless it is nested very deeply."""
    indent = None if is_nested_deeper(value, _MAX_INDENTED) else 2
    return json.dumps(value, ensure_ascii=False, indent=indent)


def strings_in(value: object) -> Iterator[str]:
    """All texts of a value in its order, names of properties included."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as members:
                yield from members
                waiting += reversed(members.values())
            case list() as entries:
                waiting += reversed(entries)


def _text(label: str, name: str, text: str) -> Fact:
    if not text.strip():
        return Fact(
            label,
            name,
            note=f"only {pluralize(len(text), 'space or line break', 'spaces or line breaks')}"
            if text
            else "left empty",
        )
    if len(text) <= MAX_WORD and "\n" not in text:
        return Fact(label, name, text)
    excerpt = Excerpt(text)
    return Fact(label, name, note=excerpt.length, excerpt=excerpt)


def _as_json(label: str, name: str, value: object) -> Fact:
    excerpt = Excerpt(as_json(value))
    return Fact(label, name, note=f"JSON, {excerpt.length}", excerpt=excerpt, is_json=True)
