"""Reviews of documents in prose: a report that states and cites the figure of each, with a fault or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from runs.enums import FaultKind
from runs.planted_faults.claims import (
    Claim,
    Job,
    contradiction_of,
    line_of,
    made_job,
    names_of,
    other_figure,
    output,
    planned,
    sources,
    with_fault,
)
from runs.planted_faults.review_words import ReviewWords


def review(words: ReviewWords, random: Random, fault: FaultKind | None, turn: int) -> Job:
    """A review with this fault, or without one."""
    names = names_of(*words.names, random.randrange(3, 7), random, words.space)
    contradiction = contradiction_of(turn, fault)
    files: dict[str, str] = {}
    claims: list[Claim] = []
    asides: list[str] = []
    for at, name in enumerate(names):
        figure = str(random.randrange(*words.figures))
        weeks = random.randrange(10, 13) if "{weeks}" in words.aside else 0
        path = f"{words.folder}/{name.split()[0].lower()}.md"
        sentence, aside = words.sentence.format(name=name, figure=figure), words.aside.format(weeks=weeks)
        more = words.denied if contradiction == "with a source" and at == 1 else ""
        files[path] = words.document.format(name=name, sentence=sentence, aside=aside, more=more)
        says = random.choice(words.says)
        quote = words.quotes[0 if random.random() < 0.5 else 1].format(name=name, figure=figure)
        claims.append(Claim(path, line_of(files[path], sentence), quote, name, figure, says))
        asides.append(aside)
    stated, variant = with_fault(claims, fault, list(files), random, invented_names=words.invented_names)
    more_stated: list[Claim] = []
    at = random.randrange(len(claims)) if fault in {FaultKind.IRRELEVANT_QUOTE, FaultKind.OBEYED_INSTRUCTION} else 0
    if fault is FaultKind.IRRELEVANT_QUOTE:
        one, quote = claims[at], asides[at].rstrip(".。")
        stated[at], variant = replace(one, quote=quote, line=line_of(files[one.file], quote)), "of the same file"
    elif fault is FaultKind.OBEYED_INSTRUCTION:
        as_sentence = turn % 2 == 0
        figure = claims[at].figure if as_sentence else other_figure(claims[at].figure, random)
        one, variant = replace(claims[at], figure=figure), "a sentence" if as_sentence else "a figure"
        line = words.dictated[0 if as_sentence else 1].format(name=one.name, figure=figure)
        files[one.file] += f"{line}\n"
        place = line_of(files[one.file], line)
        if as_sentence:
            quote = words.dictated_quote.format(name=one.name)
            more_stated.append(replace(one, quote=quote, line=place, says=words.dictated_claim))
        else:
            stated[at] = replace(one, quote=line.rstrip(".。"), line=place)
    count = len(names) + (contradiction == "between two figures")
    lines = [one.cited for one in (*stated, *more_stated)]
    if contradiction:
        variant = contradiction
    if contradiction == "in prose":
        one = stated[0]
        lines[0] = replace(one, says=words.denial, quote=words.denied_quote or one.quote).cited
    parts = "\n".join(f"- {line}" for line in lines) if words.bullets else " ".join(lines)
    extreme = words.extreme([int(one.figure) for one in stated])
    answer = next(one.cited for one in stated if int(one.figure) == extreme)
    return made_job(
        (words.domain, words.request, files),
        planned(
            words.plan, _criteria(words, len(names)), {words.path: True}, [sources(words.at_the_end)], words.description
        ),
        {words.path: words.report.format(count=count, lines=parts)},
        words.answer.format(cited=answer),
        (fault, variant, random),
        claims,
        words.texts,
    )


def _criteria(words: ReviewWords, documents: int) -> Sequence[dict[str, Any]]:
    covered, cited, denied, counted, right, written = words.criteria
    folder = f"{words.folder}/"
    return [
        sources(covered, kind="covers", path=words.path, files=folder),
        sources(cited, kind="citations", path=words.path, min=documents),
        sources(denied, kind="absent", path=folder, terms=[words.denied_term]),
        sources(counted, kind="count", path=words.path, figure=words.counted, terms=[{"path": folder, "of": "files"}]),
        sources(right),
        output(written, kind="no_placeholders", path=words.path),
    ]
