"""The values of fields that mean something: moments, people, files, and headers with secrets."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Any

from runs.acts.facts import Fact, FactReader, Secret
from runs.acts.shape import Field, canonical, names

MAX_SECRET = 300
"""Characters of a secret that is not shown. A longer one may be something else, and is shown."""
MAX_SECRETS = 3
"""Secrets of one field that are not shown. Requests rarely need more of them, and more could carry something else."""
_KEY = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9-]{0,15}) )?(?P<key>[!-~]+)|(?P<cookies>[^\s=;]+=[!-~]*(?:; ?[^\s=;]+=[!-~]*)*)"
)
"""What keys, passwords and cookies look like: no text in words."""
_MAIL = names("email address emailaddress mail")
_NAME = names("name displayname fullname cn")
_FILE = names("path filepath filename file name url")
_DATE, _ZONE = names("datetime date"), names("timezone")


def field_shown(reader: FactReader, one: Field, name: str, value: object, schema: object) -> Fact:
    """A field with the label of its shape, and `name` next to it."""
    if one.secrets:
        value = _without_secrets(value, one.secrets, count())
    fact = reader.fact(one.label, value, schema, name=name)
    if one.is_moment:
        return _moment(fact, value)
    if one.has_files:
        fact = _with_files(fact, value, reader.files)
    return _with_people(fact, value)


def moment_in_words(text: str) -> str:
    """`Tuesday 1 December 2026, 09:00`, with seconds and the difference from UTC if it has them; empty for a text in
    another form than ISO 8601.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return ""
    day = f"{moment:%A} {moment.day} {moment:%B} {moment.year}"
    if len(text) <= len("2026-12-01"):
        return day
    seconds = f"{moment:%H:%M:%S.%f}".rstrip("0").rstrip(".") if moment.microsecond else f"{moment:%H:%M:%S}"
    offset = f"{moment:%:z}".removesuffix(":00")
    zone = " UTC" if offset == "+00" else f" (UTC{offset})" if offset else ""
    return f"{day}, {seconds.removesuffix(':00')}{zone}"


def _moment(fact: Fact, value: object) -> Fact:
    """The moment in words instead of its form for machines, which says the same."""
    if isinstance(value, Mapping):
        given = {canonical(name): part for name, part in value.items()}
        dates = [part for name, part in given.items() if name in _DATE and isinstance(part, str)]
        zone = given.get("timezone", "")
        is_known = len(dates) == 1 and given.keys() <= _DATE | _ZONE and isinstance(zone, str)
        said = moment_in_words(dates[0]) if is_known else ""
        return Fact(fact.label, fact.name, said, note=zone) if said else fact
    said = moment_in_words(fact.words)
    return replace(fact, words=said) if said else fact


def _without_secrets(value: object, secrets: frozenset[str], hidden: Iterator[int]) -> object:
    """The headers with their secrets replaced, also where each is an object with a name and a value."""
    match value:
        case dict():
            return {name: _secret(part, hidden) if canonical(name) in secrets else part for name, part in value.items()}
        case list():
            return [_without_secret(part, secrets, hidden) for part in value]
        case _:
            return value


def _without_secret(part: object, secrets: frozenset[str], hidden: Iterator[int]) -> object:
    if not isinstance(part, dict) or canonical(str(part.get("name", part.get("key", "")))) not in secrets:
        return part
    return {name: _secret(inner, hidden) if name == "value" else inner for name, inner in part.items()}


def _secret(value: object, hidden: Iterator[int]) -> object:
    """What stands for a secret. A text that does not look like one, or comes after MAX_SECRETS others, is shown."""
    is_short = isinstance(value, str) and 0 < len(value) <= MAX_SECRET
    found = _KEY.fullmatch(value) if isinstance(value, str) and is_short else None
    if found is None or next(hidden) >= MAX_SECRETS:
        return value
    return Secret(found["key"] or found[0], found["scheme"] or "")


def _with_people(fact: Fact, value: object) -> Fact:
    """Mail addresses with names on one line each, where an entry has nothing else."""
    if not isinstance(value, list) or not fact.is_list:
        return fact
    people = [_person(one) for one in value]
    return replace(fact, parts=tuple(new or old for new, old in zip(people, fact.parts, strict=True)))


def _person(value: object) -> Fact | None:
    """`Bob <bob@example.com>`, with a note whether they are required; None for what is no person."""
    if not isinstance(value, dict):
        return None
    given = {canonical(name): part for name, part in _unwrapped(value)}
    mails = [part for name, part in given.items() if name in _MAIL]
    called = [part for name, part in given.items() if name in _NAME]
    must = _required(given)
    if len(mails) != 1 or len(called) > 1 or given.keys() - _MAIL - _NAME - {"optional", "type", "required"}:
        return None
    if must is None or not all(isinstance(part, str) and 0 < len(part) < 120 for part in [*mails, *called]):
        return None
    if not called:
        return Fact("", words=str(mails[0]), note=must)
    return Fact("", words=f"{called[0]} <{mails[0]}>", note=must)


def _unwrapped(value: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The members; those of `emailAddress` instead of it, which some servers put around address and name."""
    for name, part in value.items():
        if canonical(name) == "emailaddress" and isinstance(part, dict):
            yield from part.items()
        else:
            yield name, part


def _required(given: Mapping[str, object]) -> str | None:
    """`required` or `optional` in words, empty if nothing is said; None if what is said is not understood."""
    said = [given[name] for name in ("optional", "type", "required") if name in given]
    if not said:
        return ""
    known = {("optional", False): "required", ("optional", True): "optional"}
    known |= {("required", True): "required", ("required", False): "optional"}
    if len(said) == 1 and "type" in given:
        return str(said[0]) if said[0] in ("required", "optional") else None
    found = [
        known.get((name, given[name] is True)) for name in ("optional", "required") if isinstance(given.get(name), bool)
    ]
    return found[0] if len(found) == len(said) == 1 else None


def _with_files(fact: Fact, value: object, files: Collection[str]) -> Fact:
    """The fact with the file that each entry names."""
    if isinstance(value, list) and fact.is_list:
        parts = zip(fact.parts, value, strict=True)
        return replace(fact, parts=tuple(_with_file(part, one, files) for part, one in parts))
    return _with_file(fact, value, files)


def _with_file(fact: Fact, value: object, files: Collection[str]) -> Fact:
    """The fact with the path of the file that it names: this path, or the only one with this name."""
    named = value if isinstance(value, str) else ""
    if isinstance(value, dict):
        texts = (part for name, part in value.items() if canonical(name) in _FILE and isinstance(part, str))
        named = next(texts, "")
    if not named.strip() or fact.excerpt:
        return fact
    path = named.strip().removeprefix("./").lstrip("/")
    if path not in files:
        alike = [one for one in files if one.rpartition("/")[2] == path.rpartition("/")[2]]
        path = alike[0] if len(alike) == 1 else ""
    return replace(fact, file=path, is_no_file=not path)
