"""The first two pages of a report: what a busy reader needs. What does not fit continues in the annex."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate, islice

from runs.accounting.usage import clocks_of
from runs.documents.printing.blocks import (
    Block,
    CheckList,
    Diagram,
    FactList,
    Heading,
    Items,
    Notice,
    Paragraph,
    Preformatted,
    Quotation,
    ReportSection,
    Spans,
    TableBlock,
    Tone,
    paragraph,
    plain,
    span,
    spans,
)
from runs.enums import SETTLED_STEPS, GateStatus, Outcome, StepStatus
from runs.evidence.results import CriterionResult
from runs.readmodel.run_view import RunReading
from runs.readmodel.status_words import words as words_of
from runs.reports import parts
from runs.reports.texts import Texts
from runs.text.plural import pluralize

MAX_POINTS = 6
MAX_POINT = 420
MIN_POINT = 100
MAX_CRITERIA = 12
MAX_DECISIONS = 6
"""Open points, characters of one at most and at least, criteria and decisions that stand on the first two pages."""
_CLAUSE_END = re.compile(r"(?<=[.;!?”)]) (?=[A-Z“])")
MIN_ANSWER = 32.0
"""The least lines of the answer. It gets all the room on the two pages that other sections leave."""
LINES = 110.0  # of the two pages, so that the brief is not longer
LINE, WORDS = 104, 13
TITLE, HEADING, GAP = 3.0, 2.5, 0.6
"""Lines of the two printed pages, without what a turn of the page may waste, characters and words of one, and how many
of them the title takes, the heading of a section, and the space between two blocks.
"""
MIN_WORDS = 8
"""A paragraph is not cut so that fewer words than these are left."""
ANSWER = "answer"
type _Dated = tuple[datetime | None, Spans]


@dataclass
class AnnexParts:
    """The parts that did not fit into the brief."""

    points: list[Spans] = field(default_factory=list)
    answer: tuple[Block, ...] = ()
    criteria: Sequence[CriterionResult] = ()
    decisions: Sequence[Spans] = ()


def brief(report: RunReading, texts: Texts) -> tuple[tuple[ReportSection, ...], AnnexParts]:
    rest = AnnexParts()
    outcome = ReportSection("outcome", "Outcome", _outcome(report))
    points = ReportSection("open-points", "Open points", _points(report, rest))
    criteria = ReportSection("criteria", "Success criteria", _criteria(report, rest))
    decisions = ReportSection("decisions", "Decisions", _decisions(report, rest))
    cost = ReportSection("cost", "Cost", _cost(report))
    others = (outcome, points, criteria, decisions, cost)
    room = LINES - TITLE - HEADING - sum(HEADING + sum(map(lines, one.blocks)) for one in others if one.blocks)
    answer = ReportSection("answer", "Answer", _answer(report, texts, rest, room))
    sections = (outcome, points, answer, criteria, decisions, cost)
    return tuple(section for section in sections if section.blocks), rest


def _outcome(report: RunReading) -> tuple[Block, ...]:
    run, plan = report.run, report.plan
    steps = plan.steps if plan else ()
    done = sum(1 for step in steps if step.row.status in SETTLED_STEPS)
    accepted = sum(1 for step in steps if step.row.status == StepStatus.ACCEPTED)
    rows: list[tuple[str, Spans]] = [("Outcome", spans(span(words_of(run.outcome or run.status), strong=True)))]
    if steps:
        points = f", {accepted} of them accepted with open points" if accepted else ""
        idle = len(report.does_not_apply)
        points += f", {idle} of them because there was nothing to do" if idle else ""
        rows.append(("Steps", spans(f"{done} of {len(steps)} done{points}")))
    rows += [("Does not apply", spans(sentence)) for sentence in report.does_not_apply]
    if report.criteria:
        met = f"{report.met} of {len(report.criteria)} met, each by evidence that the server checked"
        rows.append(("Success criteria", spans(met)))
    if plan and report.run.outcome:
        rows.append(("Criteria of steps", spans("{} of {} met".format(*plan.met_in_steps))))
    found = report.citations
    if found.all or found.broken or found.rest:
        rows.append(("Citations", spans(found.sentence)))
    made = sum(1 for one in report.made if one.change != "removed")
    given = f"{run.inputs.file_count:,} ({parts.size(run.inputs.total_size)})"
    rows.append(("Files", spans(f"your files {given}; results {made:,}")))
    rows.append(("Submitted", spans(f"{parts.time(run.created_at)} by {run.owner}")))
    rows.append(("Finished", spans(_finished(report))))
    return (FactList(tuple(rows)), *_notices(report))


def _finished(report: RunReading) -> str:
    run = report.run
    clocks = clocks_of(run, report.as_of or run.created_at)
    waited = f", waited for people {parts.duration(clocks.waited)}" if clocks.waited else ""
    ended = parts.time(run.finished_at) if run.finished_at else "not yet"
    return f"{ended}; worked {parts.duration(clocks.worked)}{waited}"


def _notices(report: RunReading) -> list[Block]:
    found: list[Block] = []
    if not report.run.outcome:
        found.append(
            Notice("", "The run is not finished.", (paragraph("This is the report as of now; it will change."),))
        )
    if report.no_ai:
        found.append(Notice("", "No AI was involved.", (paragraph("Offline rules did this work."),)))
    if report.same_model:
        words = (
            "Executor and verifier are both ",
            span(report.same_model, code=True),
            "; the policy of this run allowed it.",
        )
        found.append(Notice("warn", "One model judged its own work.", (paragraph(*words),)))
    if report.no_sources:
        found.append(Notice("", "No sources were needed.", (paragraph(report.no_sources),)))
    return found


def _points(report: RunReading, rest: AnnexParts) -> tuple[Block, ...]:
    first, more = parts.split(report.left_open, MAX_POINTS)
    rows: list[tuple[Block, ...]] = []
    for sentence in first:
        end = _end_of_clause(sentence)
        if end < len(sentence):
            rest.points.append(spans(f"… {sentence[end:].strip()}"))
        rows.append((paragraph(sentence if end == len(sentence) else f"{sentence[:end].strip()} …"),))
    rest.points += [spans(sentence) for sentence in more]
    blocks: list[Block] = [Items(tuple(rows))] if rows else []
    if rest.points:
        blocks.append(_in_annex("The rest of the open points", "more-points"))
    if report.rollback:
        blocks.append(Notice("", "What the plan says to do with the results now", (paragraph(report.rollback),)))
    return tuple(blocks)


def _end_of_clause(sentence: str) -> int:
    """Where to cut a long point for the brief: between two sentences or clauses, else between two words."""
    if len(sentence) <= MAX_POINT:
        return len(sentence)
    ends = [match.start() for match in _CLAUSE_END.finditer(sentence, MIN_POINT, MAX_POINT)]
    return ends[-1] if ends else max(sentence.rfind(" ", 0, MAX_POINT), MIN_POINT)


def _in_annex(what: str, id_: str) -> Paragraph:
    return paragraph(f"{what} stands ", span("in the annex", to=f"#{id_}"), ".", tone="muted")


def _answer(report: RunReading, texts: Texts, rest: AnnexParts, room: float) -> tuple[Block, ...]:
    """The answer. `room` is the number of lines that are left for it."""
    if not report.run.answer:
        return (paragraph("There is no answer." if report.run.outcome else "There is no answer yet.", tone="muted"),)
    shown, rest.answer = shortened(texts.blocks(ANSWER), max(room, MIN_ANSWER))
    return (*shown, *((_in_annex("The rest of the answer", "more-answer"),) if rest.answer else ()))


def shortened(blocks: Sequence[Block], room: float) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """The first blocks, which take so many lines at most, and the others. Lists, tables and paragraphs are cut; a
    heading never stands alone.
    """
    if sum(map(lines, blocks)) <= room:
        return tuple(blocks), ()
    shown: list[Block] = []
    for place, block in enumerate(blocks):
        if lines(block) <= room:
            shown.append(block)
            room -= lines(block)
            continue
        first, second = _cut(block, room)
        rest = [second, *blocks[place + 1 :]]
        if first:
            return (*shown, first), tuple(rest)
        while shown and isinstance(shown[-1], Heading):
            rest.insert(0, shown.pop())
        return tuple(shown), tuple(rest)
    return tuple(shown), ()


def _cut(block: Block, room: float) -> tuple[Block | None, Block]:
    match block:
        case Paragraph():
            return _cut_paragraph(block, int((room - GAP) * WORDS))
        case Items():
            rows = _fitting(map(_item_lines, block.rows), room)
            first: Block | None = replace(block, rows=block.rows[:rows]) if rows else None
            start = None if block.start is None else block.start + rows
            rest: Block = replace(block, rows=block.rows[rows:], start=start)
        case TableBlock():
            rows = _fitting(map(_row_lines, block.rows), room - _row_lines(block.head))
            first = replace(block, rows=block.rows[:rows]) if rows else None
            rest = replace(block, rows=block.rows[rows:])
        case _:
            return None, block
    return first, rest


def _fitting(heights: Iterable[float], room: float) -> int:
    """How many items fit, counted from the first."""
    return sum(1 for total in accumulate(heights) if total <= room)


def _cut_paragraph(block: Paragraph, words: int) -> tuple[Block | None, Block]:
    """Cut a paragraph between two spans, or within a span that is no link."""
    for place, one in enumerate(block.spans):
        count = len(one.text.split())
        if count <= words:
            words -= count
            continue
        if one.to or words < MIN_WORDS:
            break
        cut = [match.end() for match in islice(re.finditer(r"\S+", one.text), words)][-1]
        first, second = replace(one, text=f"{one.text[:cut]} …"), replace(one, text=f"… {one.text[cut:].lstrip()}")
        return replace(block, spans=(*block.spans[:place], first)), replace(
            block, spans=(second, *block.spans[place + 1 :])
        )
    return None, block


def lines(block: Block) -> float:
    """About how many lines of a printed page a block takes."""
    match block:
        case Paragraph():
            return GAP + _wrapped(block.spans)
        case Heading():
            return 1.2 + _wrapped(block.spans)
        case Preformatted():
            return 3 * GAP + block.text.count("\n") + 1
        case Diagram():
            return 20  # what most of them take
        case Quotation():
            return GAP + sum(map(lines, block.blocks))
        case Notice():
            return HEADING + sum(map(lines, block.blocks))
        case Items():
            return GAP + sum(map(_item_lines, block.rows))
        case TableBlock():
            return GAP + _row_lines(block.head) + sum(map(_row_lines, block.rows))
        case FactList():
            return GAP + sum(_wrapped(words) for _, words in block.rows)
        case CheckList():
            return sum(GAP + _wrapped(row.spans) for row in block.rows)
        case _:
            return 1


def _wrapped(words: Spans) -> int:
    return max(1, math.ceil(len(plain(words)) / LINE))


def _item_lines(row: Sequence[Block]) -> float:
    """The lines of a list, whose items have little space between them."""
    return sum(map(lines, row)) - GAP


def _row_lines(row: Sequence[Spans]) -> float:
    """The lines of a table, which has smaller letters and columns as wide as their words."""
    return GAP + 0.8 * math.ceil(sum(len(plain(cell)) + 2 for cell in row) / (1.15 * LINE))


def _criteria(report: RunReading, rest: AnnexParts) -> tuple[Block, ...]:
    if not report.criteria:
        words = "They were not judged." if report.run.outcome else "They have not been judged yet."
        return (paragraph(words, tone="muted"),)
    first, rest.criteria = parts.split(sorted(report.criteria, key=lambda one: one.met), MAX_CRITERIA)
    rows = CheckList(tuple(parts.check(one, id_=f"criterion-{one.label}") for one in first))
    return (rows, *((_in_annex("The rest of the criteria", "evidence"),) if rest.criteria else ()))


def _decisions(report: RunReading, rest: AnnexParts) -> tuple[Block, ...]:
    """The decisions for the brief. If there is no room for all, those that changed something come first."""
    gates = [gate for gate in report.rows.gates if gate.decided_at]
    changing: list[_Dated] = [
        (gate.decided_at, parts.decision(gate)) for gate in gates if gate.status != GateStatus.APPROVED
    ]
    changing += [(plan.row.created_at, parts.edit(plan.row)) for plan in report.plans if plan.row.author]
    others: list[_Dated] = [
        (gate.decided_at, parts.decision(gate)) for gate in gates if gate.status == GateStatus.APPROVED
    ]
    first, more = parts.split([*_in_time(changing), *_in_time(others)], MAX_DECISIONS)
    rest.decisions = [words for _, words in more]
    by_policy = [plan for plan in report.plans if plan.row.approved_how and not plan.decisions]
    rows = [(Paragraph(words),) for _, words in _in_time(first)]
    for plan in by_policy:
        how = f"by {plan.row.approved_how}, {parts.time(plan.approved_at)}"
        rows.append((paragraph(f"Version {plan.row.version} of the plan was approved {how}."),))
    if not rows:
        return (paragraph("No one was asked anything.", tone="muted"),)
    return (
        Items(tuple(rows)),
        *((_in_annex("The rest of the decisions", "more-decisions"),) if rest.decisions else ()),
    )


def _in_time(rows: Iterable[_Dated]) -> list[_Dated]:
    return sorted(rows, key=lambda row: row[0] or datetime.min.replace(tzinfo=UTC))


def _cost(report: RunReading) -> tuple[Block, ...]:
    used, costs, budget = report.totals, report.costs, report.run.policy.budget
    words = parts.cost(used) if used.calls else "Nothing: no model was called"
    words += f" of a budget of {parts.usd(budget)}" if budget is not None else ""
    words += (
        f"; {pluralize(used.calls, 'call' if report.no_ai else 'model call')}, {used.tokens:,} tokens"
        if used.calls
        else ""
    )
    planned = costs.planned if costs else None
    if planned and planned.guess and planned.guess.low is not None:
        standing = f", {planned.standing} it" if planned.standing else ""
        words += f". The plan was estimated at {parts.usd(planned.guess.low)} to {parts.usd(planned.guess.high)}"
        words += f" and used {parts.cost(planned.actual)}{standing}" if planned.actual.calls else ""
    return (paragraph(f"{words}."),)


def tone_of(report: RunReading) -> Tone:
    match report.run.outcome:
        case Outcome.SUCCEEDED:
            return "good"
        case Outcome.FAILED:
            return "bad"
        case _:
            return "warn"
