"""How a result came about: outcome, decisions, evidence, steps with their attempts, files with hashes, and figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runs.accounting.costs import CostLine
from runs.accounting.figures import Bucket
from runs.accounting.usage import clocks_of
from runs.contracts.base import RESULT
from runs.contracts.feedback import Comment
from runs.documents.printing.blocks import (
    SOURCE,
    Block,
    Callout,
    CheckItem,
    CheckList,
    FactList,
    Heading,
    Items,
    Paragraph,
    Quotation,
    ReportSection,
    Span,
    Spans,
    TableBlock,
    paragraph,
    span,
    spans,
)
from runs.enums import SETTLED_STEPS, Action, Severity, StepStatus
from runs.evidence.citations.citation import Citation
from runs.evidence.results import CriterionResult, critique_head, in_plain_words
from runs.lifecycle.available_agents import as_used
from runs.models import Attempt, Verdict
from runs.readmodel.csv_formulas import formulas_in
from runs.readmodel.plan_differences import CriterionChange, StepChange
from runs.readmodel.plan_view import AttemptReading, PlanReading, StepReading
from runs.readmodel.run_files import MadeFile
from runs.readmodel.run_view import RunReading
from runs.readmodel.status_words import about_request, risk
from runs.readmodel.status_words import words as words_of
from runs.reports import parts
from runs.reports.places import CitedPlaces
from runs.reports.texts import Texts
from runs.store import trees
from runs.text.csv_tables import is_csv
from runs.text.diff import TextChange
from runs.text.normalisation import one_spaced
from runs.text.plural import pluralize
from runs.text.truncate import cut_after
from runs.text.visible import visible_text

MAX_REQUEST = 20_000
"""Characters of the request that are shown."""
MAX_LISTED = 50
"""Citations, paragraphs and sentences that a list names; the JSON report names all."""
_ACTIONS = {Action.RETRY.value: "another attempt", Action.REPLAN.value: "another plan"}


def critiques(report: RunReading, texts: Texts) -> None:
    """Adds the critiques of all attempts to the texts of the report, which are read together."""
    for plan in report.plans:
        for step in plan.tried_steps:
            for attempt in step.own_attempts:
                if attempt.verdict and attempt.verdict.feedback:
                    texts.add(("critique", attempt.row.pk), critique_of(attempt.verdict), attempt.row)


def protocol(report: RunReading, texts: Texts, places: CitedPlaces) -> tuple[ReportSection, ...]:
    """The sections that are not empty."""
    sections = (
        ReportSection("outcome", "Outcome", _outcome(report)),
        ReportSection("request", "Request", _request(report)),
        ReportSection("decisions", "Decisions", _decisions(report)),
        ReportSection("cost", "Cost", _cost(report)),
        ReportSection("evidence", "Evidence for the success criteria", _evidence(report, places)),
        ReportSection("requests", "What people asked for", _requests(report, places)),
        ReportSection("coverage", "What was read of your files", _coverage(report)),
        ReportSection("citations", "Citations", _citations(report, places)),
        ReportSection("results", "Results", _results(report, places)),
        ReportSection("steps", "Plan and steps", tuple(_plans(report, texts, places))),
        ReportSection("costs", "Cost against the estimate", _costs(report, places)),
        ReportSection("calls", "Calls" if report.no_ai else "Model calls", _calls(report)),
        ReportSection("figures", "Figures", _figures(report)),
    )
    return tuple(section for section in sections if section.blocks)


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
    rows += [("Judged by people", spans(sentence)) for sentence in report.by_people]
    found = report.citations
    if found.all or found.broken or found.rest:
        rows.append(("Citations", spans(found.sentence)))
    made = sum(1 for one in report.made if one.change != "removed")
    given = f"{run.inputs.file_count:,} ({parts.size(run.inputs.total_size)})"
    rows.append(("Files", spans(f"your files {given}; results {made:,}")))
    rows.append(("Submitted", spans(f"{parts.time(run.created_at)} by {run.owner}")))
    rows.append(("Finished", spans(_finished(report))))
    return (FactList(tuple(rows)),)


def _finished(report: RunReading) -> str:
    run = report.run
    clocks = clocks_of(run, report.as_of or run.created_at)
    waited = f", waited for people {parts.duration(clocks.waited)}" if clocks.waited else ""
    ended = parts.time(run.finished_at) if run.finished_at else "not yet"
    return f"{ended}; worked {parts.duration(clocks.worked)}{waited}"


def _decisions(report: RunReading) -> tuple[Block, ...]:
    """All decisions of people, and the plans that were approved without one, by time."""
    rows = [(gate.decided_at, parts.decision(gate)) for gate in report.rows.gates if gate.decided_at]
    rows += [(plan.row.created_at, parts.edit(plan.row)) for plan in report.plans if plan.row.author]
    rows += [(one.at, parts.overruling(one)) for one in report.overrulings]
    words = [(Paragraph(decision),) for _, decision in sorted(rows, key=lambda row: row[0])]
    for plan in report.plans:
        if plan.row.approved_how and not plan.decisions:
            how = f"by {plan.row.approved_how}, {parts.time(plan.approved_at)}"
            words.append((paragraph(f"Version {plan.row.version} of the plan was approved {how}."),))
    return (Items(tuple(words)),) if words else (paragraph("No one was asked anything.", tone="muted"),)


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


def _bounded(sentences: Sequence[object]) -> tuple[Block, ...]:
    more = len(sentences) - MAX_LISTED
    return parts.listed([*sentences[:MAX_LISTED], *([f"and {more:,} more"] if more > 0 else [])])


def _request(report: RunReading) -> tuple[Block, ...]:
    text = report.run.request.strip()
    return (Quotation((Paragraph((Span(visible_text(cut_after(text, MAX_REQUEST))),)),)),)


def _evidence(report: RunReading, places: CitedPlaces) -> tuple[Block, ...]:
    rows = [
        parts.check(one, parts.evidence(one, places, None), id_=f"criterion-{one.label}")
        for one in sorted(report.criteria, key=lambda criterion: criterion.met)
    ]
    return (CheckList(tuple(rows)),) if rows else ()


def _requests(report: RunReading, places: CitedPlaces) -> tuple[Block, ...]:
    rows: list[CheckItem] = []
    for one in report.requests:
        gate = one.gate
        state = f": {one.state}" if one.state != one.word else ""
        details: list[Block] = [
            paragraph(f"{gate.decider}, {parts.time(gate.decided_at)}, about {about_request(gate)}{state}.")
        ]
        if one.result and one.result.proof and one.attempt:
            to = places.evidence(one.result.proof, one.attempt)
            details += [paragraph(span("The place that meets it", to=to))] if to else []
        details += [paragraph(one.why)] if one.why else []
        details += [paragraph(f"The plan: {place}") for place in one.planned]
        rows.append(CheckItem(one.word, f"R{one.number}", spans(one.sentence), "", tuple(details)))
    return (CheckList(tuple(rows)),) if rows else ()


def _coverage(report: RunReading) -> tuple[Block, ...]:
    found = report.coverage
    return _bounded(found.summary) if found.files else ()


def _citations(report: RunReading, places: CitedPlaces) -> tuple[Block, ...]:
    found = report.citations
    listed: list[object] = [
        span(f"Broken: {one}", to=places.broken(one.citation) if one.citation else "") for one in found.broken
    ]
    listed += [f"Corrected: {sentence}" for sentence in found.corrected]
    blocks = list(_bounded(listed))
    uncited = [
        f"{document.name}, line {one.first_line}: {one.text}"
        for document in found.documents
        for one in document.uncited
    ]
    if uncited:
        blocks += [Heading(2, spans("Statements without a citation")), *_bounded(uncited)]
    for document in found.documents:
        found_there = [one for one in document.notes if not one.broken]
        if found_there:
            more = len(found_there) - MAX_LISTED
            rows = [(_noted(one, places),) for one in found_there[:MAX_LISTED]]
            rows += [(paragraph(f"and {more:,} more"),)] if more > 0 else []
            blocks += [Heading(2, spans(f"Citations in {document.name}")), Items(tuple(rows))]
    return tuple(blocks)


def _noted(one: Citation, places: CitedPlaces) -> Block:
    """A citation of a document, as a link, which the notes in the document are not. Exports list its place."""
    to = places.citation(one)
    place = "" if to.startswith(SOURCE) else f", {one.source.removeprefix(RESULT)}, {one.where}"
    return paragraph(f"{one.stands}: ", span(f"“{one.quote}”", to=to), place, f" ({one.weak})" if one.weak else "")


def _results(report: RunReading, places: CitedPlaces) -> tuple[Block, ...]:
    if not report.made:
        return (paragraph("The run made and changed no files.", tone="muted"),)
    head = ("File", "Change", "Size", "SHA-256", "Note")
    rows = tuple(
        (
            (span(file.path, to=places.file(file.path, file.info)),),
            spans(file.change),
            spans(parts.size(file.info.size)),
            (span(file.info.sha256, code=True),),
            spans(_note(file)),
        )
        for file in report.made
    )
    return (_table("Results", head, rows, right=(2,)),)


def _note(file: MadeFile) -> str:
    """A warning about cells that a spreadsheet would compute."""
    if file.change == "removed" or not is_csv(file.path):
        return ""
    try:
        found = formulas_in(file.path, trees.read_text(file.info.sha256) or "").words
    except FileNotFoundError:
        return "lost by the store"
    return f"a spreadsheet would compute {found}" if found else ""


def _plans(report: RunReading, texts: Texts, places: CitedPlaces) -> Iterator[Block]:
    if not report.plans:
        yield paragraph("There is no plan.", tone="muted")
    goals: set[str] = set()
    for plan in reversed(report.plans):
        yield from _plan(plan, goals)
        for step in plan.tried_steps:
            yield from _step(step, texts, places)


def _plan(reading: PlanReading, goals: set[str]) -> Iterator[Block]:
    """A version of the plan. `goals` are the goals of later versions, which are not repeated."""
    plan = reading.row
    name = f"Version {plan.version} of the plan: {words_of(plan.status)}"
    yield Heading(2, spans(name), f"plan-{plan.version}")
    if plan.header.goal not in goals:
        yield paragraph(plan.header.goal)
    goals.add(plan.header.goal)
    rows = []
    if plan.reason:
        rows.append(("Why this version", spans(plan.reason)))
    if reading.fingerprint:
        rows.append(("Fingerprint", (span(reading.fingerprint, code=True),)))
    yield FactList(tuple(rows))
    yield from changes_account(reading)
    if plan.relaxed:
        yield Callout("warn", "Differs from what was agreed", parts.listed(plan.relaxed))


def _step(step: StepReading, texts: Texts, places: CitedPlaces) -> Iterator[Block]:
    to = places.step(step.row)
    yield Heading(3, spans(span(step.name, to=to), f": {'; '.join(step.standing)}"))
    key = span(step.row.key, code=True)
    yield paragraph(key, f" · {risk(step.row.complexity)}. {step.row.spec.description}")
    if name := step.row.spec.agent:
        yield paragraph(f"With the agent {as_used(name, (one.row.agent for one in step.own_attempts))}.")
    yield from (paragraph(f"May hand parts to {name}.") for name in step.helpers)
    if step.kept_from:
        yield paragraph(f"Reused from version {step.kept_from}: definition and inputs are unchanged.")
    if step.shown:
        yield paragraph(f"Read of your files: {'; '.join(step.shown)}.", tone="muted")
    judged = [attempt for attempt in step.own_attempts if attempt.results]
    if judged and judged[-1].verdict:
        last = judged[-1]
        results = sorted(judged[-1].results, key=lambda one: one.met and one.holds)
        yield CheckList(tuple(_checked(results, places, last.row)))
    earlier: dict[object, int] = {}
    for attempt in step.own_attempts:
        yield from _attempt(attempt, texts, places, earlier, judged_above=bool(judged) and attempt is judged[-1])


def _checked(results: Sequence[CriterionResult], places: CitedPlaces, attempt: Attempt) -> Iterator[CheckItem]:
    """The criteria of an attempt. Evidence that an earlier criterion has as well is not repeated."""
    known: dict[tuple[Block, ...], str] = {}
    for one in results:
        details = tuple(parts.evidence(one, places, attempt))
        first = known.setdefault(details, one.label)
        same = (paragraph(f"By the same evidence as {first}.", tone="muted"),)
        yield parts.check(one, same if details and first != one.label else details)


def _attempt(
    attempt: AttemptReading, texts: Texts, places: CitedPlaces, earlier: dict[object, int], *, judged_above: bool
) -> Iterator[Block]:
    """`judged_above`: its criteria stand above it. `earlier`: at which attempt something was said first, which is not
    repeated.
    """
    row, verdict, source = attempt.row, attempt.verdict, attempt.row.reused_from
    sure = "" if attempt.confidence is None else f" · {attempt.confidence * 100:.0f} % confident"
    said_of = f" · {_severity(verdict)}" if verdict and not verdict.passed else ""
    head = span(f"Attempt {row.number}", strong=True, to=places.attempt(row))
    by_people = f"; {attempt.by_people}" if attempt.by_people else ""
    yield paragraph(head, f": {words_of(attempt.mark)}{by_people} · {parts.time(row.created_at)}{sure}{said_of}")
    if source:
        place = f"run {source.step.plan.run_id}, attempt {source.number}"
        yield paragraph("Result reused from ", span(place, to=places.attempt(source)), "; it cost nothing here.")
    if verdict and not judged_above:
        unmet = [one for one in attempt.results if not one.met or not one.holds]
        rows = (
            CheckItem(parts.mark_of(one), one.label, (), "", tuple(parts.evidence(one, places, row))) for one in unmet
        )
        yield from [CheckList(tuple(rows))] if unmet else []
    notes = [*(verdict.remarks if verdict else []), *(f"Differs from the plan: {one}" for one in attempt.deviations)]
    critique = texts.blocks(("critique", row.pk))
    for what, blocks in (("Critique", critique), ("Notes", _bounded(notes))):
        if not blocks:
            continue
        if (first := earlier.setdefault(blocks, row.number)) != row.number:
            yield paragraph(f"{what}: as at attempt {first}.", tone="muted")
        elif what == "Critique":
            yield paragraph("Critique:", tone="muted")
            yield Quotation(blocks)
        else:
            yield from blocks


def critique_of(verdict: Verdict) -> str:
    """A critique without its lines about single criteria, which are shown with the criteria."""
    lines = {f"{critique_head(one.label, one.text)}{one.feedback}" for one in verdict.results if one.feedback}
    text = verdict.feedback
    for line in lines:
        text = text.replace(line, "")
    return in_plain_words(text, verdict.results, verdict.requests).strip()


def _severity(verdict: Verdict) -> str:
    asked = f"; the verdict asked for {_ACTIONS[verdict.action]}" if verdict.action in _ACTIONS else ""
    return f"{Severity(verdict.severity).words}{asked}"


def _table(
    name: str, head: Sequence[str], rows: Sequence[tuple[tuple[Span, ...], ...]], right: tuple[int, ...] = ()
) -> TableBlock:
    return TableBlock(name, tuple(spans(one) for one in head), tuple(rows), right)


def _costs(report: RunReading, places: CitedPlaces) -> tuple[Block, ...]:
    costs = report.costs
    if costs is None:
        return ()
    basis = f"The estimate is based on {costs.basis}." if costs.basis else "Nothing was estimated for it."
    note = paragraph(f"Of version {costs.version} of the plan, without reused results. {basis}", tone="muted")
    steps = {step.row.pk: places.step(step.row) for step in (report.plan.steps if report.plan else ())}
    beside = [costs.planning, *([costs.earlier] if costs.earlier else [])]
    rows = [_cost_row(one, steps) for one in (*costs.steps, *costs.roles, costs.planned, *beside)]
    total = ("Whole run", "", parts.cost(costs.total), "", "", f"{costs.total.tokens:,}")
    rows.append(tuple(spans(cell) for cell in total))
    head = ("Part", "Estimate", "Actual", "", "Tokens estimated", "Tokens used")
    return (note, _table("Cost against the estimate", head, rows, right=(1, 2, 4, 5)))


def _cost_row(one: CostLine, steps: dict[int, str]) -> tuple[tuple[Span, ...], ...]:
    guess = one.guess
    note = "; ".join(filter(None, (one.standing, one.note)))
    money, tokens = "not estimated", ""
    if guess:
        known = guess.low is not None and guess.high is not None
        least = "at least " if guess.partly else ""
        money = f"{least}{_range(parts.usd(guess.low), parts.usd(guess.high))}" if known else "unpriced"
        tokens = _range(*(f"{one:,}" for one in guess.tokens))
    used = parts.cost(one.actual) if one.actual.calls else "nothing"
    name = (span(one.name, to=steps.get(one.step or 0, "")),)
    return (name, *(spans(cell) for cell in (money, used, note, tokens, f"{one.actual.tokens:,}")))


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _calls(report: RunReading) -> tuple[Block, ...]:
    if not report.roles:
        return ()
    head = ("Role", "Model", "Calls", "Input", "Output", "From cache", "To cache, 5 min", "To cache, 1 h", "Cost")
    named = [(one.role, one.model, one.totals) for one in report.roles]
    rows = []
    for role, model, totals in [*named, ("all", "", report.totals)]:
        figures = (
            totals.calls,
            totals.input_tokens,
            totals.output_tokens,
            totals.cache_read_tokens,
            totals.cache_write_5m_tokens,
            totals.cache_write_1h_tokens,
        )
        cells = (role, model, *(f"{figure:,}" for figure in figures), parts.cost(totals))
        rows.append(tuple(spans(cell) for cell in cells))
    return (
        _table("Calls" if report.no_ai else "Model calls", head, rows, right=tuple(range(2, 9))),
        paragraph("Tokens by kind, as the service reported them.", tone="muted"),
    )


def _figures(report: RunReading) -> tuple[Block, ...]:
    found, call = report.figures, "call" if report.no_ai else "model call"
    steps, attempts = found.steps, found.attempts
    rows = [
        (
            "Steps attempted",
            f"{steps.attempted}: {steps.passed} passed, {steps.accepted} accepted with open points, "
            f"{steps.not_applicable} not applicable, {steps.failed} failed, {steps.dropped} skipped; "
            f"{steps.reused} more reused an earlier result",
        ),
        ("Passed at once", f"{_share(steps.first_pass, steps.ended)}{f'. {found.doubt}' if found.doubt else ''}"),
        ("Passed at any attempt", _share(steps.passed, steps.ended)),
        (
            "Attempts judged",
            f"{attempts.judged}: {attempts.passed} passed, of which people sent back "
            f"{attempts.sent_back}; {attempts.retries} retries",
        ),
        ("Retried after a failure", f"{pluralize(steps.retried, 'step')}; {steps.recovered} of them passed"),
        ("New plans", f"{found.runs.replans} that the run asked for, {found.runs.rejected} that people sent back"),
        ("Verdicts with unsupported claims", f"{attempts.unsupported}"),
    ]
    if report.run.finished_at:
        waited = f"{found.waited.count}, open for {parts.duration(found.waited.total_ms)} together"
        rows.append(("Questions to people", waited))
    rows += [
        (
            phase.name.capitalize(),
            f"{parts.duration(phase.model_ms)} in {pluralize(phase.calls, call)}"
            + (f", {parts.duration(phase.tool_ms)} in tools" if phase.tool_ms else ""),
        )
        for phase in found.phases
        if phase.calls
    ]
    if not report.no_ai:
        rows += [_confidence("Executor", one, "passed") for one in found.executor]
        rows += [_confidence("Verifier", one, "had evidence") for one in found.verifier]
    return (FactList(tuple((term, spans(words)) for term, words in rows)),)


def _confidence(who: str, one: Bucket, what: str) -> tuple[str, str]:
    return f"{who} {one.label} confident", f"{_share(one.held, one.count)} {what}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole * 100:.0f} % ({part} of {whole})" if whole else "none has ended"


MAX_CHANGES = 40
"""Changed steps and criteria of one version that are listed; the JSON report has all."""
MAX_TEXT = 240
"""Characters of a text before or after a change."""


def changes_account(plan: PlanReading) -> tuple[Block, ...]:
    """The changes from the version before, with their author and the requests that led to them."""
    changes = plan.changes
    if changes is None:
        return ()
    by = f"edited by {plan.row.author}" if plan.row.author else "by the planner"
    whole = _after_requests(changes.comments)
    lead = paragraph(f"Compared with version {changes.before}, {by}: {changes.summary}", *whole, ".", tone="muted")
    rows = [(Paragraph(_changed_step(one)), *parts.listed(_details(one))) for one in changes.steps]
    rows += [(Paragraph(spans(_changed_criterion(one, "Success criterion"))),) for one in changes.criteria]
    rows += [(paragraph(_changed_text(one)),) for one in changes.whole]
    more = len(rows) - MAX_CHANGES
    rows = [
        *rows[:MAX_CHANGES],
        *([(paragraph(f"and {more:,} more, which are in the JSON report"),)] if more > 0 else []),
    ]
    return (lead, Items(tuple(rows))) if rows else (lead,)


def _changed_step(one: StepChange) -> Spans:
    less = ", asks for less" if one.less and one.kind != "removed" else ""
    moved = f", was step {one.was}" if one.was not in {0, one.number} and one.kind != "removed" else ""
    return spans(
        f"Step {one.number} ", span(one.name, strong=True), f": {one.kind}{moved}{less}", *_after_requests(one.comments)
    )


def _details(one: StepChange) -> Iterator[str]:
    """The details of a changed step. A removed one has none."""
    if one.kind != "removed":
        yield from map(_changed_text, one.changes)
        yield from (_changed_criterion(criterion, "Criterion") for criterion in one.criteria)


def _changed_criterion(one: CriterionChange, what: str) -> str:
    less = ", asks for less" if one.relaxed else ""
    changed = "; ".join(map(_changed_text, one.changes)) if one.kind == "changed" else ""
    told = changed or f"“{_short(one.text)}”"
    return f"{what} {one.number} {one.kind}{less}: {told}"


def _changed_text(one: TextChange) -> str:
    before, after = _short(one.before), _short(one.after)
    if before and after:
        return f"{one.what}: “{before}” became “{after}”"
    return f"{one.what}: “{after}” is new" if after else f"{one.what}: “{before}” is gone"


def _short(text: str) -> str:
    """The beginning of the text on one line."""
    return cut_after(one_spaced(text), MAX_TEXT)


def _after_requests(comments: Iterable[Comment]) -> list[str | Span]:
    """Links to the requests that led to a change. Their words are shown in a section of their own."""
    numbers = [one.request for one in comments if one.request]
    found: list[str | Span] = []
    for number in numbers:
        found += [", after " if not found else ", ", span(f"request R{number}", to="#requests")]
    return found
