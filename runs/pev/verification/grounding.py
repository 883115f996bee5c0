"""What a quote of a verifier is worth: whether it is in its source, whose words these are, and what it is to support.

Code can tell where words come from and whether they are there. Whether they have to do with what they are to support
it cannot tell: it marks what shares nothing with it, so that the verifier is asked and a person can look.
"""

from collections.abc import Sequence

from runs.enums import About, CitationStatus, Provenance
from runs.pev.citations.lookup import Citation, cited_at
from runs.pev.contracts import Criterion, QuotedEvidence
from runs.pev.evidence.quotes import Span, find, resolve
from runs.pev.evidence.relation import unrelated
from runs.pev.evidence.results import Evidence
from runs.pev.evidence.sources import OUTSIDE, Sources
from runs.pev.files.paths import text_of
from runs.pev.texts.wording import quoted

NOT_OUTSIDE = (
    "Unsupported: every quote is from what this run wrote itself. A criterion about the sources needs a passage of the "
    "files, or of what a tool showed of them."
)


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
    return next((f"{one.source}, {_line_of(one)}" for one in cited if one.provenance in OUTSIDE), "")


def _line_of(one: Citation) -> str:
    if one.status is CitationStatus.CORRECTED and one.cited_line:
        return f"line corrected from {one.cited_line} to {one.source_line}"
    return f"line {one.source_line}"


def _with_statement(found: Evidence, statement: str, sources: Sources, made: Sequence[str]) -> Evidence:
    for name in made:
        span = _in(name, statement, sources)
        if span:
            place = {"statement_line": span.line, "statement_start": span.start, "statement_end": span.end}
            words = {"statement": statement, "statement_in": name, "weak": unrelated(statement, found.quote)}
            return found.model_copy(update={**place, **words})
    sentence = f"{quoted(statement)}, which it is said to support, is nowhere in the result"
    return found.model_copy(update={"verified": False, "sentence": sentence})


def _in(name: str, statement: str, sources: Sources) -> Span | None:
    text = text_of(sources[name]) if name in sources else None
    return find(statement, text) if text else None
