"""The figures, and the names, of a result that come from nowhere (T11)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice

from runs.contracts.base import OUTPUT, RESULT
from runs.documents.content import document_of, text_of
from runs.documents.places.document import Document
from runs.documents.places.views import seen_text
from runs.evidence.facts import KnownFigures
from runs.evidence.results import UntracedFigure
from runs.evidence.tracing import Figure, counts_in, trace
from runs.pev.checks.word_count import count_words
from runs.pev.verification.case import VerificationInput
from runs.text.csv_tables import is_csv
from runs.text.names import names_in, words_of_names
from runs.text.numbers import numbers_in

TRACED = (".md", ".markdown", ".txt", ".html", ".csv", ".tsv", ".tab", ".docx", ".xlsx", ".pdf")
"""What people read and calculate with. Figures of programs and settings are no statements about the world."""
MAX_NAMES = 100


_COUNTED: Sequence[Callable[[str], int]] = (
    lambda text: text.count("\n"),
    lambda text: len(text.splitlines()),
    count_words,
    lambda text: len(text.split()),
)
"""Lines and words, as tools count them."""


def untraced_in(case: VerificationInput) -> list[UntracedFigure]:
    """Each figure, date and web address of what is judged that occurs in nothing which was given, read, observed or
    said, and follows from no calculation: in the order of the sources. Files that were given or written by earlier
    steps are read only if the rest has not all of them: each step would take longer than the one before.
    """
    sources, delivered = case.sources, list(_delivered(case))
    counts = {Decimal(len(case.inputs.infos)), Decimal(len(case.shown)), *_counts(delivered)}
    known = list(sources.facts())
    facts = KnownFigures(known, days=case.days, counts=counts)
    left = [one for one in delivered if any(_not_traced(*one, facts))]
    if left:
        earlier, given = list(_made_before(case)), list(sources.given_facts())
        counts.update(_counts(earlier))
        # Lists of files give the lines and words of each file, and of all files together.
        counts.update(
            *({Decimal(count(text)) for count in _COUNTED} for _, text in given),
            {Decimal(sum(count(text) for _, text in given)) for count in _COUNTED},
        )
        facts = KnownFigures([*known, *given], days=case.days, counts=counts)
        results = {value for name, text in (*delivered, *earlier) for value in _calculation_results(name, text, facts)}
        facts = facts.with_counts(results)
    return [
        UntracedFigure(
            source=name,
            kind=figure.kind,
            text=figure.text,
            line=figure.line,
            start=figure.start,
            end=figure.end,
            place=document.place_name(figure.start, figure.end).words if document else "",
        )
        for name, text in left
        for document in (_document_at(name, case),)
        for figure in _not_traced(name, text, facts)
    ]


def unknown_names_in(case: VerificationInput) -> list[UntracedFigure]:
    """Each name of people and organisations in what is judged of which no word stands in what was given, read, observed
    or said: a hint for people, since a name is guessed from its spelling.
    """
    found = [(name, text, one) for name, text in _delivered(case) if not is_csv(name) for one in names_in(text)]
    left = {word for _, _, one in found for word in words_of_names(one.text)}
    texts = chain(case.sources.facts(), case.sources.given_facts())
    for _, text in texts if left else ():
        left -= words_of_names(text)
        if not left:
            break
    unknown = ((name, text, one) for name, text, one in found if words_of_names(one.text) <= left)
    documents = {name: _document_at(name, case) for name in {name for name, _, _ in found}}
    return [
        UntracedFigure(
            source=name,
            kind="name",
            text=one.text,
            line=text.count("\n", 0, one.start) + 1,
            start=one.start,
            end=one.end,
            place=document.place_name(one.start, one.end).words if (document := documents[name]) else "",
        )
        for name, text, one in islice(unknown, MAX_NAMES)
    ]


def _counts(texts: Iterable[tuple[str, str]]) -> set[Decimal]:
    return set().union(*(counts_in(text, is_csv=is_csv(name)) for name, text in texts))


def _delivered(case: VerificationInput) -> Iterator[tuple[str, str]]:
    """Name and text of what is judged and read by people."""
    for name in case.shown:
        yield name, _text_at(name.removeprefix(RESULT), case)
    yield OUTPUT, case.output


def _made_before(case: VerificationInput) -> Iterator[tuple[str, str]]:
    """Name and text of each file that earlier steps have written."""
    judged = set(case.judged_files)
    for path in case.files:
        if path not in judged and path not in case.inputs.infos:
            yield path, _text_at(path, case)


def _text_at(path: str, case: VerificationInput) -> str:
    if not path.lower().endswith(TRACED) or path not in case.files:
        return ""
    document = document_of(case.files[path])
    return (seen_text(document) if document else text_of(case.files[path])) or ""


def _document_at(name: str, case: VerificationInput) -> Document | None:
    """The places of a result that is a document; None for a text, which has lines."""
    path = name.removeprefix(RESULT)
    return document_of(case.files[path]) if path in case.files else None


def _calculation_results(name: str, text: str, facts: KnownFigures) -> Iterator[Decimal]:
    """What the calculations that a text states come to: other texts may repeat it."""
    for figure in trace(text, facts, is_csv=is_csv(name)):
        if figure.status == "derived":
            yield from (abs(value) for number in numbers_in(figure.text) for value in number.values)


def _not_traced(name: str, text: str, facts: KnownFigures) -> Iterator[Figure]:
    figures = trace(text, facts, is_csv=is_csv(name))
    return (figure for figure in figures if figure.status == "not traced")
