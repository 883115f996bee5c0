"""What a quote of a verifier is worth: whether it is in its source, whose words these are, and what it should support.

Code can tell where words come from and whether they are there. Whether they have to do with what they are to support
it cannot tell: it marks what shares nothing with it, so that the verifier is asked and a person can look.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from runs.contracts.base import QuotedEvidence
from runs.documents.content import document_of, text_of
from runs.enums import About, Provenance
from runs.evidence.citations.citation import Citation, Cited
from runs.evidence.citations.citing import may_cite
from runs.evidence.citations.lookup import cited_at, noted_in
from runs.evidence.passages import find_quote, unmarked, widened
from runs.evidence.quotes import proves_nothing, resolve
from runs.evidence.relation import doubt_about
from runs.evidence.results import Evidence
from runs.evidence.sources import OUTSIDE, Sources
from runs.evidence.tracing import missing_in
from runs.pev.contracts import Criterion
from runs.text.normalisation import Strength, caseless, contains_text, markup_of
from runs.text.truncate import quoted

_PATH = re.compile(r"[\w/.-]+")
NO_STATEMENT = "the verifier does not say which words of the result it supports"
NOT_OF_OUTPUT = (
    "Unsupported: no quote is from the result. A criterion about the output needs a passage of the result, or of a "
    "source with the words of the result that it supports."
)
NOT_OUTSIDE = (
    "Unsupported: every quote is from what this run wrote itself. A criterion about the sources needs a passage of the "
    "files, or of what a tool showed of them."
)


class EvidenceResolver:
    """Looks the quotes of one verification up. `made` names the sources in which the statements that they support have
    to be. What a document cites is looked up once for all quotes from it.
    """

    def __init__(self, sources: Sources, made: Sequence[str]) -> None:
        self._sources, self._made = sources, made
        self._noted: dict[str, Cited] = {}

    def examined(self, quote: QuotedEvidence) -> Evidence:
        found = resolve(quote, self._sources)
        if not found.verified:
            return found
        if contains_text(self._sources.sent_to(quote.source), quote.quote, Strength.COULD_BE):
            sentence = (
                f"{quoted(quote.quote)} is what the executor itself put into {quote.source}; quote a file instead"
            )
            return found.model_copy(update={"verified": False, "sentence": sentence})
        found = self._with_provenance(found, quote.quote)
        if quote.statement:
            return _with_statement(found, quote.statement, self._sources, self._made)
        return found.model_copy(update={"weak": found.weak or doubt_about("", found.quote)})

    def examined_for(self, criterion: Criterion, quotes: Sequence[QuotedEvidence]) -> list[Evidence]:
        """The evidence for one criterion. About the sources, each piece has to say which words of the result it
        supports, unless it is from the result itself, and together they have to have all figures of these words and
        all files that they name (T1b).
        """
        evidence = [self.examined(quote) for quote in quotes]
        if criterion.topic is About.OUTPUT:
            return evidence
        missing = {
            said: self._missing_parts(said, [one for one in evidence if one.verified and one.statement == said])
            for said in {one.statement for one in evidence}
        }
        return [self._doubted(one, missing[one.statement]) for one in evidence]

    def _missing_parts(self, statement: str, evidence: Sequence[Evidence]) -> list[str]:
        """The figures of a statement, and the given files that it names, that do not occur in this evidence."""
        quotes = [one.quote for one in evidence]
        seen = caseless(" ".join([*quotes, *(one.source for one in evidence)]))
        named = dict.fromkeys(word.strip(".-") for word in _PATH.findall(caseless(statement)))
        return [*missing_in(quotes, statement), *(one for one in named if one in self._names and one not in seen)]

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of the given files, with their folders and without."""
        paths = [caseless(path) for path in self._sources.given_paths]
        return frozenset([*paths, *(path.rpartition("/")[2] for path in paths)])

    def _doubted(self, one: Evidence, missing: Sequence[str]) -> Evidence:
        if one.weak or not one.outside or one.source in self._made:
            return one
        why = ""
        if not one.statement:
            why = NO_STATEMENT
        elif missing:
            why = f"{', '.join(missing[:5])} of {quoted(one.statement)} is in no quote for it"
        return one.model_copy(update={"weak": why})

    def _with_provenance(self, found: Evidence, given: str) -> Evidence:
        sources = self._sources
        text = text_of(sources[found.source]) or ""
        observed = sources.observed(found.source)
        for quote in dict.fromkeys([*unmarked(found.quote), *unmarked(given)]) if observed else ():
            if proves_nothing(quote, text):
                continue
            for start, end in observed:
                if span := find_quote(quote, text[start:end]):
                    whole = widened(span, text[start:end])
                    quote = quote if whole == span else text[start:end][whole.start : whole.end]
                    span, line = whole, text.count("\n", 0, start) + whole.line
                    place = {"line": line, "start": start + span.start, "end": start + span.end, "quote": quote}
                    sentence = f"{quoted(quote)} is in {found.source}, line {line}"
                    return found.model_copy(update={**place, "sentence": sentence, "provenance": Provenance.OBSERVED})
        if unseen := sources.unseen(found.source):
            figures = ", ".join(f"{number:,f}" for number in unseen[:5])
            sentence = f"{found.sentence}; {figures} in it occurs in nothing that was read before"
            found = found.model_copy(update={"sentence": sentence})
        known = {"sha256": sources.digest(found.source) or found.sha256, "cites": self._cited_by(found, text)}
        return found.model_copy(update={**known, "provenance": sources.provenance(found.source)})

    def _cited_by(self, found: Evidence, text: str) -> str:
        """Where a citation in the passage of a result leads outside the run; empty for a passage without citations."""
        name, sources = found.source, self._sources
        if sources.provenance(name) is not Provenance.MADE or not (name == "@output" or may_cite(name)):
            return ""
        document = document_of(sources[name])
        if document and name not in self._noted:
            self._noted[name] = noted_in(document, sources)
        cited = (
            self._noted[name].carrying(found.start, found.end)
            if document
            else cited_at(text, found.start, found.end, sources)
        )
        return next((f"{one.source}, {_place_of(one)}" for one in cited if one.provenance in OUTSIDE), "")


def supports(criterion: Criterion, evidence: Sequence[Evidence]) -> bool:
    """T1 and T1a: something is verified. A criterion about the sources is not proven by the run's own words alone, and
    one about the output not by words of the sources that are tied to no words of the result.
    """
    if criterion.topic is About.OUTPUT:
        return any(item.verified and _is_of_result(item) for item in evidence)
    return any(item.outside for item in evidence)


def _is_of_result(item: Evidence) -> bool:
    """Whether it is a passage of the result, or is linked to one. A check always looks at the result."""
    return item.kind == "check" or item.provenance is Provenance.MADE or bool(item.statement_in)


def _place_of(one: Citation) -> str:
    return (one.correction if one.cited_line or one.cited_place else "") or one.where


def _with_statement(found: Evidence, statement: str, sources: Sources, made: Sequence[str]) -> Evidence:
    for name in made:
        text = text_of(sources[name]) if name in sources else None
        span = find_quote(statement, text, markup_of(name)) if text else None
        if span:
            place = {"statement_line": span.line, "statement_start": span.start, "statement_end": span.end}
            weak = found.weak or doubt_about(statement, found.quote)
            words = {"statement": statement, "statement_in": name, "weak": weak}
            return found.model_copy(update={**place, **words})
    sentence = f"{quoted(statement)}, which it is said to support, is nowhere in the result"
    return found.model_copy(update={"verified": False, "sentence": sentence})
