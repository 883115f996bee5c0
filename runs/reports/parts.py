"""What the report and the protocol share: money, times, criteria with their evidence."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from runs.accounting.costs import Totals
from runs.documents.printing.blocks import Block, CheckItem, Items, Mark, Paragraph, Spans, paragraph, span, spans
from runs.evidence.results import CriterionResult, Evidence
from runs.models import Attempt, Gate, Overruling, Plan
from runs.readmodel.status_words import decision_in_words
from runs.reports.places import CitedPlaces
from runs.text.plural import pluralize
from runs.text.truncate import cut_after

MAX_QUOTE = 600
"""Characters of a quote. Its link leads to the rest."""


def mark_of(one: CriterionResult) -> Mark:
    return "met" if one.met else "open" if one.decided_by == "nobody" else "not met"


def check(one: CriterionResult, details: Iterable[Block] = (), *, id_: str = "") -> CheckItem:
    decided = f"{one.decided}; {one.overruled.words}" if one.overruled else one.decided
    return CheckItem(mark_of(one), one.label, spans(one.text), decided, tuple(details), id_)


def evidence(one: CriterionResult, places: CitedPlaces, attempt: Attempt | None) -> list[Block]:
    """The evidence of a criterion: first what a person says against the verdict, then the feedback if it is not met,
    then each piece.
    """
    found: list[Block] = [paragraph(one.feedback)] if one.feedback and not one.met else []
    if said := one.overruled:
        lead = span(f"{said.words[:1].upper()}{said.words[1:]}", strong=True)
        what = ", not verified" if said.met else ", against the verdict"
        found.insert(0, paragraph(lead, f"{what} ({time(said.at)}): “{said.reason}”"))
    return found + [
        Paragraph(_proof(proof, places, attempt), "" if proof.verified else "muted") for proof in one.evidence
    ]


def _proof(proof: Evidence, places: CitedPlaces, attempt: Attempt | None) -> Spans:
    if not proof.verified:
        return spans("Not accepted as evidence: ", _ended(proof.message))
    to = places.evidence(proof, attempt)
    rests = f" ({proof.rests_on})" if proof.rests_on else ""
    weak = f" Doubtful: {_ended(proof.weak)}" if proof.weak else ""
    if proof.kind == "check":
        last = f": “{proof.quote.splitlines()[-1]}”" if proof.quote else ""
        return spans(span(proof.sentence, to=to), last, rests, ".", weak)
    quote = cut_after(proof.quote, MAX_QUOTE, "…")
    supports = f", supports “{proof.statement}” in {proof.statement_where}" if proof.statement else ""
    return spans(f"“{quote}”, ", span(proof.where, to=to), rests, supports, ".", weak)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def decision(gate: Gate) -> Spans:
    """Who decided what, when and how, with their words."""
    words: list[object] = [f": “{gate.reason}”"] if gate.reason else ["."]
    if gate.asked:  # the words stand with what became of them
        numbers = (span(f"request R{asked.request}", to="#requests") for asked in gate.asked)
        words = [part for number in numbers for part in (", ", number)]
        words = [": ", *words[1:], "."]
    how = "" if gate.decided_how == "person" else f", by {gate.decided_how}"
    return spans(span(gate.decider, strong=True), f" {decision_in_words(gate)}, {time(gate.decided_at)}{how}", *words)


def edit(plan: Plan) -> Spans:
    """Who wrote a version of the plan by editing the one before, and when."""
    edited = f" edited version {plan.version - 1} of the plan into version {plan.version}, {time(plan.created_at)}."
    return spans(span(plan.author, strong=True), edited)


def overruling(row: Overruling) -> Spans:
    """Who judged a criterion how, and when, with their words and what the verdict says."""
    about = f"{row.label} of “{row.attempt.step.spec.name}”, attempt {row.attempt.number}"
    says = f" says that {about} is {'met' if row.met else 'not met'}"
    verdict = f", which its verdict found {'met' if row.was else 'not met'}, {time(row.at)}: “{row.reason}”"
    return spans(span(row.by, strong=True), says, verdict)


def listed(sentences: Iterable[object]) -> tuple[Block, ...]:
    """A list of sentences, or nothing."""
    rows = tuple((paragraph(one),) for one in sentences)
    return (Items(rows),) if rows else ()


def usd(amount: Decimal | None) -> str:
    """An amount in dollars, to a tenth of a cent. None means unpriced, never free."""
    if amount is None:
        return "unpriced"
    if amount == 0 or amount >= 1:
        return f"${amount:,.2f}"
    return f"${amount:.3f}" if amount >= Decimal("0.001") else "under $0.001"


def cost(totals: Totals) -> str:
    """A sum of costs. It names unpriced calls, and begins with “at least” if it may be more."""
    if totals.unpriced and totals.unpriced == totals.calls:
        return "unpriced"
    least = "at least " if totals.lower_bounds or totals.unpriced else ""
    more = f", {pluralize(totals.unpriced, 'call')} unpriced" if totals.unpriced else ""
    return f"{least}{usd(totals.cost)}{more}"


def time(moment: datetime | None) -> str:
    return f"{timezone.localtime(moment):%-d %b %Y, %H:%M %Z}" if moment else ""


def duration(milliseconds: int | None) -> str:
    """A duration, such as 0.4 s, 12 s, 3 min 20 s or 2 h 5 min."""
    if milliseconds is None:
        return ""
    whole = round(milliseconds / 1_000)
    if milliseconds < 9_950:
        return f"{milliseconds / 1_000:.1f} s"
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3_600 else f"{whole // 3_600} h {whole % 3_600 // 60} min"


def size(count: int) -> str:
    """A number of bytes in decimal units."""
    if count < 1_000:
        return pluralize(count, "byte")
    power = min(3, (len(str(count)) - 1) // 3)
    amount = count / 1_000**power
    shown = f"{amount:,.0f}" if amount >= 99.5 else f"{amount:,.1f}".removesuffix(".0")
    return f"{shown} {('kB', 'MB', 'GB')[power - 1]}"
