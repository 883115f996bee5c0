"""What a quote of a verifier is worth: whether it is in its source, whose words these are, and what it is to support.

Code can tell where words come from and whether they are there. Whether they have to do with what they are to support
it cannot tell: it marks what shares nothing with it, so that the verifier is asked and a person can look.
"""

from collections.abc import Sequence

import regex

from runs.enums import About, Provenance
from runs.pev.citations import cited_at
from runs.pev.contracts import Criterion, QuotedEvidence
from runs.pev.evidence import Span, find, quoted, resolve
from runs.pev.paths import text_of
from runs.pev.results import Evidence
from runs.pev.sources import OUTSIDE, Sources

NOT_OUTSIDE = (
    "Unsupported: every quote is from what this run wrote itself. A criterion about the sources needs a passage of the "
    "files, or of what a tool showed of them."
)
_FIGURE = regex.compile(r"\p{N}(?:[\p{N}.,'’\u00a0\u202f]*\p{N})?")
_NAME = regex.compile(r"(?<=[\p{L}\p{N},;)]\s)[\"“„'(]*(\p{Lu}[\p{L}\p{N}]{2,})|\b(\p{Lu}{2,})\b")


def examined(quote: QuotedEvidence, sources: Sources, made: Sequence[str]) -> Evidence:
    """The quote looked up. `made` names the sources in which the statement that it supports has to be."""
    found = resolve(quote, sources)
    if not found.verified:
        return found
    if find(quote.quote, sources.sent_to(quote.source)):
        sentence = f"{quoted(quote.quote)} is what the executor itself put into {quote.source}; quote a file instead"
        return found.model_copy(update={"verified": False, "sentence": sentence})
    found = _with_provenance(found, sources)
    return _with_statement(found, quote.statement, sources, made) if quote.statement else found


def supports(criterion: Criterion, evidence: Sequence[Evidence]) -> bool:
    """T1 and T1a: something is verified, and for a criterion about the sources not by the run's own words alone."""
    if criterion.topic is About.OUTPUT:
        return any(item.verified for item in evidence)
    return any(item.outside for item in evidence)


def _with_provenance(found: Evidence, sources: Sources) -> Evidence:
    text = text_of(sources[found.source]) or ""
    for start, end in sources.observed(found.source):
        if span := find(found.quote, text[start:end]):
            line = text.count("\n", 0, start) + span.line
            place = {"line": line, "start": start + span.start, "end": start + span.end}
            sentence = f"{quoted(found.quote)} stands in {found.source}, line {line}"
            return found.model_copy(update={**place, "sentence": sentence, "provenance": Provenance.OBSERVED})
    known = {"sha256": sources.digest(found.source) or found.sha256, "cites": _cited_by(found, text, sources)}
    return found.model_copy(update={**known, "provenance": sources.provenance(found.source)})


def _cited_by(found: Evidence, text: str, sources: Sources) -> str:
    """Where a citation in the passage of a result leads outside the run; empty for what is no Markdown of the run."""
    name = found.source
    if sources.provenance(name) is not Provenance.MADE or not (name == "@output" or name.lower().endswith(".md")):
        return ""
    cited = cited_at(text, found.start, found.end, sources)
    return next((f"{one.source}, line {one.source_line}" for one in cited if one.provenance in OUTSIDE), "")


def _with_statement(found: Evidence, statement: str, sources: Sources, made: Sequence[str]) -> Evidence:
    for name in made:
        span = _in(name, statement, sources)
        if span:
            place = {"statement_line": span.line, "statement_start": span.start, "statement_end": span.end}
            words = {"statement": statement, "statement_in": name, "weak": _unrelated(statement, found.quote)}
            return found.model_copy(update={**place, **words})
    sentence = f"{quoted(statement)}, which it is said to support, is nowhere in the result"
    return found.model_copy(update={"verified": False, "sentence": sentence})


def _in(name: str, statement: str, sources: Sources) -> Span | None:
    text = text_of(sources[name]) if name in sources else None
    return find(statement, text) if text else None


def _unrelated(statement: str, quote: str) -> str:
    """Why the quote may have nothing to do with the statement; empty if they share a figure or a name, or if the
    statement has none.
    """
    wanted = _marks(statement)
    if not wanted or wanted & {*_marks(quote), *quote.casefold().split()}:
        return ""
    return f"it shares no figure and no name with {quoted(statement)}"


def _marks(text: str) -> set[str]:
    """Figures without their separators, and names: words with a capital inside a sentence."""
    figures = {regex.sub(r"\P{N}", "", match[0]) for match in _FIGURE.finditer(text)}
    return figures | {(match[1] or match[2]).casefold() for match in _NAME.finditer(text)}
