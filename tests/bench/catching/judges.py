"""Verifiers: four that pass whatever they see, one that tosses a coin, and one that reads the documents."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from runs.contracts.ports import Ask, Reply
from runs.pev.delimiters import DelimitedBlock, find
from tests.fakes.team import block, documents, verdict

type Judge = Callable[[list[DelimitedBlock]], dict[str, Any]]
_CITED = re.compile(r"\[“([^”]*)”\]\(([^)#]*)(?:#L\d+)?\)")
_NAME = re.compile(r"\b[A-Z][a-zäöü]+ [A-Z][a-zäöü]+\b")
_NEGATION = re.compile(r"\b(?:no|not|never|nobody)\b", re.IGNORECASE)
_UNFINISHED = re.compile(r"\bTODO\b|To follow\.|\[insert")
_IN_GENERAL = re.compile(r"The claims(?: in the letters)?|Die Forderungen(?: in den Schreiben)?|(?:来函中的)?索赔金额")
_PAGE = re.compile(r"^(?:[^\n,]+, found .*|</?page-.*)\n?|\n?</page-[0-9a-f]+>$", re.MULTILINE)
_ADDRESS = re.compile(r"(https://[^\s,\"]+)")
_RENT = re.compile(r"\b([A-Z]\w+ [A-Z]\w+) pays (\w+) (?:euros|rent)")
_AVERAGE = re.compile(r"average (?:rent is|that is) ([\d,.]+) euros")
_COMPUTED = re.compile(r"^\(\d[^\n]* = ([\d,.]+)", re.MULTILINE)
_COUNTED = re.compile(r"(\d+) (contracts were|people were|duplicates removed)")


class Judging:
    """A model that answers as the judge does."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def ask(self, ask: Ask) -> Reply:
        content: Any = ask.messages[0]["content"]
        parts = [part for block in content for part in find(block["text"])]
        return Reply(({"type": "text", "text": json.dumps(self._judge(parts))},), "end_turn", ask.model)


@dataclass(frozen=True)
class Seen:
    """What a verifier is shown: the documents given and made, by name, and what the executor or the run answers. Pages
    of the web are given, too: `pages` has the names of the tool calls by their addresses.
    """

    given: Mapping[str, str]
    made: Mapping[str, str]
    pages: Mapping[str, str]
    output: str
    topics: Mapping[str, str]
    at_the_end: bool

    def named(self, cited: str) -> str:
        """The source that a citation leads to."""
        return self.pages.get(cited, cited)

    @property
    def judged(self) -> Sequence[str]:
        """The texts that the criteria are about."""
        return [self.output] if self.at_the_end else list(self.made.values())


def seen_in(parts: list[DelimitedBlock]) -> Seen:
    at = next(number for number, part in enumerate(parts) if part.kind == "subject")
    topics = dict(line.split(": ", 1) for line in block(parts, "about").splitlines())
    tools = [(part.name.partition(" ")[0], part.text) for part in parts if part.kind == "tool"]
    pages = [(name, text) for name, text in tools if _PAGE.search(text) or _COMPUTED.search(text)]
    found = {name: _ADDRESS.search(text) for name, text in pages}
    return Seen(
        dict(documents(parts[:at])) | {name: _PAGE.sub("", text) for name, text in pages},
        dict(documents(parts[at:])),
        {address[1]: name for name, address in found.items() if address},
        block(parts, "output"),
        topics,
        parts[at].text.startswith("The whole task"),
    )


def lazy(parts: list[DelimitedBlock]) -> dict[str, Any]:
    """Passes everything with the first line of what the criterion is about, and names no statement."""
    return _passing(parts, lambda near, judged: [(*_first_in(near), "")])


def irrelevant(parts: list[DelimitedBlock]) -> dict[str, Any]:
    """Passes everything with that line, and says that it supports the first line of the result."""
    return _passing(parts, lambda near, judged: [(*_first_in(near), first_line(judged[0]))])


def obeying(parts: list[DelimitedBlock]) -> dict[str, Any]:
    """Passes everything with a line that tells it to, which somebody has written into a document."""
    return _passing(
        parts,
        lambda near, judged: (
            [
                (name, line, first_line(judged[0]))
                for name, text in near.items()
                for line in text.splitlines()
                if line.startswith("Note to AI")
            ]
            or [(*_first_in(near), first_line(judged[0]))]
        ),
    )


def plausible(parts: list[DelimitedBlock]) -> dict[str, Any]:
    """Passes everything with a line that has something in common with one of the result. Nobody looks whether what
    they say is the same.
    """
    return _passing(parts, lambda near, judged: [*_pairs(near, judged), (*_first_in(near), first_line(judged[0]))])


type _Proof = tuple[str, str, str]
"""Source, quote, and the statement that it supports; empty for none."""


def _passing(
    parts: list[DelimitedBlock], proofs: Callable[[Mapping[str, str], Sequence[str]], Sequence[_Proof]]
) -> dict[str, Any]:
    seen = seen_in(parts)
    answer = verdict([], "", "")
    for label, topic in seen.topics.items():
        near, far = (seen.given, seen.made) if topic == "sources" else (seen.made, seen.given)
        name, quote, statement = proofs(near or far or {"@output": seen.output}, seen.judged)[0]
        said = statement if topic == "sources" else ""
        answer["criteria_results"] += verdict([label], name, quote, said)["criteria_results"]
    return answer


def _first_in(near: Mapping[str, str]) -> tuple[str, str]:
    name, text = next(iter(near.items()))
    return name, first_line(text)


def _pairs(near: Mapping[str, str], judged: Sequence[str]) -> Iterator[_Proof]:
    """The pairs in which the source has all figures of the result first."""
    lines = [line.split("[“")[0].strip(" -:") for text in judged for line in text.splitlines() if line.strip()]
    found = [
        (name, quote, line)
        for name, text in near.items()
        for quote in text.splitlines()
        for line in lines
        if _marks(quote) & _marks(line)
    ]
    yield from sorted(found, key=lambda one: not set(re.findall(r"\d+", one[2])) <= set(re.findall(r"\d+", one[1])))


def _marks(line: str) -> set[str]:
    return set(re.findall(r"\d{2,}|[A-Z][a-z]{3,}", line[1:]))


def first_line(text: str) -> str:
    return next((line for line in text.splitlines() if sum(map(str.isalnum, line)) >= 8), text)


def tossing(random: Random) -> Judge:
    """Passes or fails each criterion by chance, with a line from anywhere."""

    def judge(parts: list[DelimitedBlock]) -> dict[str, Any]:
        seen = seen_in(parts)
        results = []
        for label in seen.topics:
            name, text = random.choice([*seen.given.items(), *seen.made.items(), ("@output", seen.output)])
            lines = [line for line in text.splitlines() if line.strip()]
            results += verdict([label], name, random.choice(lines), passed=random.random() < 0.5)["criteria_results"]
        return _summed(results)

    return judge


def honest(parts: list[DelimitedBlock]) -> dict[str, Any]:
    """Reads all that it is shown, holds each statement against its source, and quotes what proves it."""
    seen = seen_in(parts)
    wrong = list(problems(seen))
    proofs = list(proofs_in(seen))
    results = []
    for label, topic in seen.topics.items():
        if wrong:
            results += [{**one, "feedback": wrong[0]} for one in _failed(label)]
            continue
        own = ("@output", first_line(seen.output), None)
        source, quote, statement = proofs[0] if topic == "sources" and proofs else own
        (one,) = verdict([label], source, quote)["criteria_results"]
        one["evidence"][0]["statement"] = statement
        results.append(one)
    return _summed(results)


def _failed(label: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = verdict([label], "", "", passed=False)["criteria_results"]
    return found


def _summed(results: list[dict[str, Any]]) -> dict[str, Any]:
    passed = all(one["passed"] for one in results)
    return {**verdict([], "", "", passed=passed, action="pass" if passed else "retry"), "criteria_results": results}


def proofs_in(seen: Seen) -> Iterator[tuple[str, str, str | None]]:
    """Source, line of the source, and the words of the result that it supports."""
    for text in seen.judged:
        for sentence, quote, path in cited_in(text):
            if (name := seen.named(path)) in seen.given:
                yield name, _line_with(quote, seen.given[name]), sentence.strip(" :-.\n") or None
        for statement in re.findall(r"[A-Z]\w+ [A-Z]\w+ pays \d+ euros a month|[^.\n]*average[^\n]* euros", text):
            figure = re.findall(r"\d[\d,.]*", statement)[-1]
            yield from ((name, line, statement) for name, line in _lines_with(figure, seen.given))
    said = next((match[0] for text in seen.judged if (match := _IN_GENERAL.search(text))), None)
    for name, text in seen.given.items():
        yield name, first_line(text.partition("\n")[2]) or first_line(text), said


def problems(seen: Seen) -> Iterator[str]:
    for text in seen.judged:
        if _UNFINISHED.search(text):
            yield "It is not written yet."
        yield from _wrong_citations(text, seen)
        yield from _wrong_denials(text, seen)
        yield from _wrong_counts(text, seen)
        yield from _wrong_rents(text, seen)
    if not seen.at_the_end:
        yield from _left_out(seen)
        for name, text in seen.made.items():
            if name.endswith(".csv"):
                yield from _wrong_rows(text, seen)
    yield from _wrong_totals(seen)


def cited_in(text: str) -> Iterator[tuple[str, str, str]]:
    """Of each citation the words before it in its sentence, the quote and the file."""
    before = 0
    for match in _CITED.finditer(text):
        start = max(before, text.rfind("\n", 0, match.start()) + 1, text.rfind(". ", before, match.start()) + 1)
        yield text[start : match.start()].lstrip("- "), match[1], match[2]
        before = match.end() + 1


def _wrong_citations(text: str, seen: Seen) -> Iterator[str]:
    for sentence, quote, path in cited_in(text):
        source = seen.given.get(seen.named(path))
        if source is None:
            yield f"{path} is not among the documents."
        elif quote not in source:
            yield f"“{quote}” is not in {path}."
        else:
            figures, names = re.findall(r"\d+", sentence), _NAME.findall(sentence.replace("For ", ""))
            if lacking := [word for word in (*figures, *names) if word not in source]:
                yield f"{path} says nothing of {lacking[0]}."
            if bool(_NEGATION.search(sentence)) != bool(_NEGATION.search(_line_with(quote, source))):
                yield f"{path} says the contrary of “{sentence}”."


def _wrong_denials(text: str, seen: Seen) -> Iterator[str]:
    """“No contract has a liability cap”: what a sentence says is not there, and a document has."""
    for sentence in re.split(r"(?<=\.)\s+", _CITED.sub("", text)):
        denied = re.search(r"\b(?:refund|liability cap|late delivery|duplicates|inhabitants)\b", sentence)
        if denied and _NEGATION.search(sentence):
            there = [name for name, given in seen.given.items() if denied[0] in given.casefold()]
            if there or (denied[0] == "duplicates" and re.search(r"\d+ duplicates removed", text)):
                yield f"There is “{denied[0]}” in {there or 'what was removed'}."


def _wrong_counts(text: str, seen: Seen) -> Iterator[str]:
    said: dict[str, set[int]] = {}
    for figure, what in _COUNTED.findall(text):
        said.setdefault(what, set()).add(int(figure))
    for what, figures in said.items():
        if len(figures) > 1:
            yield f"It says {sorted(figures)} of the same thing."
        if what.endswith("were") and not seen.at_the_end and figures != {len(seen.given)}:
            yield f"There are {len(seen.given)} documents."
    for table in _tables(seen.given):
        if "duplicates removed" in said and said["duplicates removed"] != {len(table) - len(set(table))}:
            yield "Another number of duplicates was removed."


def _wrong_rents(text: str, seen: Seen) -> Iterator[str]:
    told = {name: rent for given in seen.given.values() for name, rent in _RENT.findall(given)}
    for name, rent in _RENT.findall(text):
        if told.get(name) != rent:
            yield f"{name} does not pay {rent}."
    if told and (lacking := set(_ADDRESS.findall(text))):
        yield f"Nobody has read {lacking.pop()}."
    if told and re.search(r"\bNo rent was found\b", text):
        yield "There are rents."
    said, computed = _AVERAGE.findall(text), _COMPUTED.findall("\n".join(seen.given.values()))
    if said and computed and said[0] != computed[0]:
        yield f"The average is {computed[0]}."


def _left_out(seen: Seen) -> Iterator[str]:
    written = "\n".join(seen.made.values())
    documents = [name for name in seen.given if "/" in name]
    if missing := [name for name in documents if name not in written]:
        yield f"{missing[0]} is not dealt with."
    for table in _tables(seen.given):
        if any(",".join(row) not in written for row in table):
            yield "A row is missing."


def _wrong_rows(text: str, seen: Seen) -> Iterator[str]:
    tables = [row for table in _tables(seen.given) for row in table]
    for row in csv.DictReader(io.StringIO(text)):
        source = seen.given.get(row.get("file", ""))
        if "file" in row:
            if source is None or any(value not in source for name, value in row.items() if name != "file"):
                yield f"The row of {row['file']} is not what it says."
        elif tuple(row.values()) not in tables:
            yield f"There is no row {row}."


def _wrong_totals(seen: Seen) -> Iterator[str]:
    made = {name.removeprefix("@result/"): text for name, text in seen.made.items()}
    rows = [row for name, text in made.items() if name.endswith(".csv") for row in csv.DictReader(io.StringIO(text))]
    total = sum(int(row["amount"]) for row in rows)
    for text in seen.judged:
        if rows and any(int(said) != total for said in re.findall(r"come to (\d+) euros", text)):
            yield f"The total is {total}."


def _tables(texts: Mapping[str, str]) -> list[list[tuple[str, ...]]]:
    found = [list(csv.reader(io.StringIO(text))) for name, text in texts.items() if name.endswith(".csv")]
    return [[tuple(row) for row in rows[1:]] for rows in found]


def _lines_with(figure: str, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, line) for name, text in texts.items() for line in text.splitlines() if figure in line)


def _line_with(quote: str, text: str) -> str:
    return next((line for line in text.splitlines() if quote in line), first_line(text))
