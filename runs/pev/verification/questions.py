"""What a verifier is asked: the artefacts of a case, as much of them as it can read, the tool calls of earlier steps,
and the criteria to judge.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from runs.contracts.base import OUTPUT, RESULT, TOOL, schema_for
from runs.contracts.ports import Ask
from runs.documents.content import document_of, text_of
from runs.documents.places.marked import marked_text
from runs.enums import About, Role
from runs.evidence.relation import marks_of, stems_of
from runs.pev import prompts
from runs.pev.contracts import Criterion, SimpleVerdict, VerifierAnswer
from runs.pev.conversation.asking import user, with_blocks
from runs.pev.conversation.examples import form_of
from runs.pev.delimiters import NOTES_CHARS, beginning_of, delimited
from runs.pev.policy import RULES
from runs.pev.verification import requests
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.requests import ResultChange
from runs.text.truncate import cut_after

IN_ALL = 24_000
OF_ONE = 4_000
"""Characters of passages that are shown from all earlier calls, and from one."""
LISTED = 100
"""Earlier calls that are named."""
LINE_CHARS = 600
SHARED = 2
"""Words that a line must share with the judged text, if it shares no figure and no name."""


def earlier_shown(case: VerificationInput) -> Iterator[str]:
    """The tool calls of earlier steps. Quotes are looked up in the whole of each result, however little is
    shown here.
    """
    if not case.earlier:
        return
    texts = [*(criterion.text for criterion in case.labelled.values()), case.output]
    wanted = SearchTerms.of("\n".join(texts))
    left = IN_ALL
    listed: list[str] = []
    for name, tool in list(case.earlier.items())[:LISTED]:
        head = tool.result.partition("\n")[0][:LINE_CHARS]
        listed.append(f"{name}: {head} ({len(tool.result):,} characters)")
        lines = passages(tool.result, wanted, min(left, OF_ONE))
        left -= len(lines)
        if lines:
            yield delimited("tool", lines, f"{name} (the lines that may matter)")
    if len(case.earlier) > LISTED:
        listed.append(f"and {len(case.earlier) - LISTED} more")
    yield delimited("earlier", "\n".join(listed))


class SearchTerms(NamedTuple):
    """Figures, names and stems of words. A line that shares them may matter."""

    marks: set[str]
    stems: set[str]

    @classmethod
    def of(cls, text: str) -> "SearchTerms":
        return cls(marks_of(text), stems_of(text))


def passages(text: str, wanted: SearchTerms, budget: int) -> str:
    """The lines of a text that share a figure, a name or some words with what is wanted, up to a number of
    characters.
    """
    found: list[str] = []
    for line in text.splitlines():
        marks, stems = _of_line(line) if len(line) <= LINE_CHARS else (marks_of(line), stems_of(line))
        if marks & wanted.marks or len(stems & wanted.stems) >= SHARED:
            budget -= len(line[:LINE_CHARS]) + 1
            if budget < 0:
                break
            found.append(line[:LINE_CHARS])
    return "\n".join(found)


@lru_cache(4_096)  # every later step of a plan is shown the same results again
def _of_line(line: str) -> tuple[Set[str], Set[str]]:
    return marks_of(line), stems_of(line)


SHOWN_CHARS = 60_000  # characters of one file
SHOWN_IN_ALL = 240_000  # characters of all files
SHOWN_OF_TOOL = 8_000
"""Characters of one document, of all documents, and of one tool result that are shown to a verifier."""
SHOWN_TO_RULES = 8_000_000
"""Characters of all documents that are given to offline rules, which read texts of any length."""
SIMPLE_CHARS = 3_000
SIMPLE_IN_ALL = 9_000
"""The same for a verifier that is asked about one criterion at a time: it reads slowly, and little at once."""
UNTRACED = 50
"""Figures without a source that are named to a verifier, and to the next attempt."""
ANSWER_TOKENS = 16_000
SIMPLE_ANSWER_TOKENS = 1_000
TOKENS_FOR_EACH = 120
"""Tokens of an answer for each criterion and request, a quote and a sentence, if there are so many that the usual limit
is too low.
"""


def whole(case: VerificationInput, labels: Mapping[str, Criterion], changes: Sequence[ResultChange]) -> Ask:
    """The question about all criteria and requests at once."""
    schema = schema_for(VerifierAnswer)
    criteria = [f"{label}: {criterion.text}" for label, criterion in labels.items()]
    criteria += [requests.request_line(change) for change in changes]
    topics = "\n".join(f"{label}: {criterion.topic}" for label, criterion in labels.items())
    given, made = _artefacts(case)
    asked = user(
        delimited("request", case.request),
        *given,
        delimited("subject", case.subject),
        *made,
        delimited("output", case.output, OUTPUT),
        *_notes(case),
        *_tool_results(case, frozenset([*given, *made])),
        *earlier_shown(case),
        *_untraced(case),
        *_hits(case),
        *requests.request_parts(case.persons, changes),
        delimited("criteria", "\n".join(criteria)),
        delimited("about", topics),
    )
    return Ask(
        role=Role.VERIFIER,
        model=case.model,
        effort=case.effort,
        system=f"{prompts.instructions(Role.VERIFIER)}\n{form_of(VerifierAnswer)}",
        messages=(with_blocks(asked, case.pages),),
        schema_name="verdict",
        schema=schema,
        max_tokens=max(ANSWER_TOKENS, TOKENS_FOR_EACH * (len(labels) + len(changes))),
        stable=(0, 1 + len(given)),
    )


def version() -> str:
    """Changes when the prompt of verifiers or the form of their answers does: then earlier measurements are old."""
    texts = [prompts.instructions(Role.VERIFIER), prompts.simple(Role.VERIFIER), form_of(VerifierAnswer)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def shows_all(case: VerificationInput) -> bool:
    """Whether a verifier is shown every character of the answer and of the written texts."""
    most, in_all = (SIMPLE_CHARS, SIMPLE_IN_ALL) if case.simple else (SHOWN_CHARS, SHOWN_IN_ALL)
    lengths = [len(_text(case, name, most + 1) or "") for name in case.shown if name in case.sources]
    if case.simple:
        lengths.append(len(case.output))
    return all(length <= most for length in lengths) and sum(lengths) <= in_all


def whole_again(ask: Ask, answer: VerifierAnswer, doubts: Mapping[str, str]) -> Ask:
    """The same question again, with what is wrong with the evidence of some criteria, by label."""
    lines = [f"- {label}: {doubt}" for label, doubt in doubts.items()]
    errors = (
        "These criteria have no evidence that stands up, none that has plainly to do with them, or not enough:\n"
        + delimited("unsupported", "\n".join(lines))
        + "\nQuote verbatim from the sources given, or say that a criterion did not pass. Answer for all of them again."
    )
    earlier = {"role": "assistant", "content": [{"type": "text", "text": answer.model_dump_json()}]}
    return Ask(**{**vars(ask), "messages": (*ask.messages, earlier, user(errors))})


def single(case: VerificationInput, label: str, about: Criterion | ResultChange) -> Ask:
    """The question about one criterion, or one request of a person, in the simple form. Of long sources it has only the
    lines that share words or figures with it.
    """
    changes = [about] if isinstance(about, ResultChange) else []
    sentence = requests.request_line(about).partition(": ")[2] if isinstance(about, ResultChange) else about.text
    topic = About.OUTPUT if isinstance(about, ResultChange) else about.topic
    wanted = SearchTerms.of(sentence)
    left = SIMPLE_IN_ALL
    parts: list[str] = []
    for kind, name, text in _sources(case, given=topic is About.SOURCES):
        most = min(SIMPLE_CHARS, left)
        if most <= 0:
            parts.append("(More is not shown: there is too much.)")
            break
        shown, label = text, name
        if len(text) > most:
            shown, label = passages(text, wanted, most), f"{name} (only the lines that may matter)"
        if kind == "output" and shown:  # what it says of the sentence leads to the lines of the others
            wanted = SearchTerms.of(f"{sentence}\n{shown}")
        left -= len(shown)
        if shown:
            parts.append(delimited(kind, shown, label))
    return Ask(
        role=Role.VERIFIER,
        model=case.model,
        effort=case.effort,
        system=prompts.simple(Role.VERIFIER),
        messages=(
            user(
                delimited("request", case.request),
                *parts,
                *_untraced(case),
                *_hits(case),
                *(requests.request_parts(case.persons, changes) if changes else ()),
                delimited("sentence", sentence, label),
                f"Is this sentence true? It is about the {topic}.",
            ),
        ),
        max_tokens=SIMPLE_ANSWER_TOKENS,
    )


def _sources(case: VerificationInput, *, given: bool) -> Iterator[tuple[str, str, str]]:
    """Kind, name and text of each source: first the results, then, if `given`, the sources they are compared with."""
    yield "output", OUTPUT, case.output
    for name in [*case.shown, *(case.given if given else ())]:
        if name in case.sources and (text := _text(case, name, SHOWN_CHARS)):
            yield "document", name, text
    if given or case.nothing_to_do:
        for number, tool in enumerate(case.tools, 1):
            yield "tool", f"{TOOL}{number}", tool.result
        for name, tool in case.earlier.items():
            yield "tool", name, tool.result


def single_again(ask: Ask, verdict: SimpleVerdict, doubt: str) -> Ask:
    """The same question again, with what is wrong with the quote."""
    said = f"That quote does not prove the sentence: {doubt} Quote other words, or say that it did not pass."
    earlier = {"role": "assistant", "content": [{"type": "text", "text": verdict.model_dump_json()}]}
    return Ask(**{**vars(ask), "messages": (*ask.messages, earlier, user(said))})


def _untraced(case: VerificationInput) -> list[str]:
    figures = [one for one in case.untraced if one.kind != "name"]
    lines = [f"{one.source}, line {one.line}: {one.text}" for one in figures[:UNTRACED]]
    if len(figures) > UNTRACED:
        lines.append(f"and {len(figures) - UNTRACED} more")
    return [delimited("untraced", "\n".join(lines))] if lines else []


def _hits(case: VerificationInput) -> list[str]:
    if not (case.searched and case.searched.hits):
        return []
    return [delimited("hits", "\n".join(map(str, case.searched.hits)), "of the words of the step in the given files")]


def _notes(case: VerificationInput) -> list[str]:
    text = beginning_of(case.notes.strip(), NOTES_CHARS)
    return [delimited("notes", text, "of the executor; its own words, no source for a quote")] if text else []


def _tool_results(case: VerificationInput, documents: Set[str]) -> Iterator[str]:
    for number, tool in enumerate(case.tools, 1):
        yield delimited(
            "tool",
            cut_after(_not_twice(tool.result, case, documents), SHOWN_OF_TOOL, "\n(cut here; the result goes on)"),
            f"{TOOL}{number}",
        )


def _not_twice(result: str, case: VerificationInput, documents: Set[str]) -> str:
    """A page that was read from a document which is shown to the verifier whole is only named."""
    head, _, body = result.partition("\n")
    page, more, _ = body.rpartition("\n[more follows; ")
    path = head.rpartition(", lines ")[0]
    for name in (path, RESULT + path):
        text = _text(case, name, SHOWN_CHARS) if name in case.sources else None
        if text and (page if more else body) in text and delimited("document", text, name) in documents:
            return f"{head}\n(as in the document {name})"
    return result


def _artefacts(case: VerificationInput) -> tuple[list[str], list[str]]:
    """The given documents and the results. Results are first in the budget. The rest is rounded down, so that the same
    documents are cut at the same place whatever an attempt wrote.
    """
    if case.model.startswith(RULES):
        made = _documents(case, case.shown, SHOWN_TO_RULES, SHOWN_TO_RULES)
        return _documents(case, case.given, SHOWN_TO_RULES - sum(map(len, made)), SHOWN_TO_RULES), made
    made = _documents(case, case.shown, SHOWN_IN_ALL, SHOWN_CHARS)
    left = SHOWN_IN_ALL - sum(map(len, made))
    return _documents(case, case.given, left - left % SHOWN_CHARS, SHOWN_CHARS), made


def _documents(case: VerificationInput, names: Sequence[str], left: int, most: int) -> list[str]:
    """The documents shown to the verifier, cut to a budget and each to `most` characters, with a note where something
    was cut.
    """
    parts: list[str] = []
    for number, name in enumerate(names):
        if left <= 0:
            parts.append(f"({len(names) - number} more documents are not shown: there are too many.)")
            break
        budget = min(most, left)
        text = _text(case, name, budget + 1) if name in case.sources else None
        if text is None:
            continue
        label = name if len(text) <= budget else f"{name} (only the first {budget} characters)"
        parts.append(delimited("document", text[:budget], label))
        left -= len(parts[-1])
    return parts


def _text(case: VerificationInput, name: str, limit: int) -> str | None:
    """The text of a source; for a document the beginning of it, with the names and numbers of its places."""
    data = case.sources[name]
    document = document_of(data)
    return marked_text(document, limit) if document else text_of(data)
