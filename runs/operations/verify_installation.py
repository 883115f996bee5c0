"""Checks contents, trees, histories, evidence and the audit trail against their hashes and counts."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from django.db.models import Count, F, Max, Min, Q

from runs.contracts.base import OUTPUT, RESULT, STEP, TOOL
from runs.enums import AuditKind
from runs.evidence.passages import Passage, find_quote, passage_in
from runs.evidence.results import Evidence, Judgement
from runs.models import Attempt, AuditEntry, Gate, Run, ToolCall, Tree, Verdict
from runs.models.files import tree_digest
from runs.operations.backup import named_contents
from runs.readmodel.approvals import differs
from runs.store import audit_trail, blobs, renditions, trees
from runs.store.audit_trail import AuditCheck
from runs.text.normalisation import markup_of
from runs.text.plural import pluralize

_AT_ONCE = 100
"""Verdicts in memory at the same time."""


@dataclass
class Verified:
    """Counts of what was checked, updated during the check."""

    contents: int = 0
    bytes: int = 0
    trees: int = 0
    runs: int = 0
    quotes: int = 0
    audit: AuditCheck = field(default_factory=AuditCheck)


def faults(seen: Verified) -> Iterator[str]:
    """A sentence for everything that is missing, damaged or was changed. Counts up `seen`, and changes nothing.

    All contents are read. What is written in the meantime may or may not be checked.
    """
    yield from _contents(seen)
    yield from _trees(seen)
    yield from _histories(seen)
    yield from _evidence(seen)
    yield from audit_trail.problems(seen.audit)
    yield from _decisions()


def _contents(seen: Verified) -> Iterator[str]:
    known = set[str]()
    for one in named_contents():
        if one.sha256 in known:
            continue
        known.add(one.sha256)
        digest, size = hashlib.sha256(), 0
        try:
            for piece in blobs.pieces_of(one.sha256):
                digest.update(piece)
                size += len(piece)
        except FileNotFoundError:
            yield f"Content {one.sha256[:12]} is missing: {one.by}."
            continue
        seen.contents, seen.bytes = seen.contents + 1, seen.bytes + size
        if digest.hexdigest() != one.sha256:
            yield f"Content {one.sha256[:12]} is damaged, it does not match its hash: {one.by}."
        elif one.size not in {None, size}:
            yield f"Content {one.sha256[:12]} has {pluralize(size, 'byte')}, and {one.size:,} are on record: {one.by}."


def _trees(seen: Verified) -> Iterator[str]:
    for tree in Tree.objects.select_related("root").order_by("id").iterator(_AT_ONCE):
        changes = {**(tree.root.changes if tree.root else {}), **tree.changes}
        files = {path: info for path, info in sorted(changes.items()) if info is not None}
        size = sum(info.size for info in files.values())
        seen.trees += 1
        if tree_digest(files) != tree.digest or (len(files), size) != (tree.file_count, tree.total_size):
            yield f"Tree {tree.pk} does not match its digest: its list of files was changed."


def _histories(seen: Verified) -> Iterator[str]:
    seen.runs = Run.objects.count()
    counted = Run.objects.annotate(events_=Count("events"), first=Min("events__seq"), last=Max("events__seq")).order_by(
        "id"
    )
    gapless = Q(events_=F("event_count"), first=1, last=F("event_count"))
    for run_id in counted.exclude(gapless).values_list("pk", flat=True):
        yield f"The history of run {run_id} has gaps: its events are not numbered from 1 to the last."


def _evidence(seen: Verified) -> Iterator[str]:
    for run in Run.objects.filter(final__isnull=False).order_by("id").iterator(_AT_ONCE):
        for quote in _quotes(run.final) if run.final else ():
            seen.quotes += 1
            if not _is_text(quote.source) and (problem := _problem_in_file(quote)):
                yield f"The evidence for the outcome of run {run.pk} {problem}."
    judged = Verdict.objects.select_related("attempt__step__plan", "attempt__work", "attempt__reused_from__work")
    for verdict in judged.order_by("id").iterator(_AT_ONCE):
        attempt = verdict.attempt
        for quote in _quotes(verdict):
            seen.quotes += 1
            if problem := _problem_with_text(attempt, quote) if _is_text(quote.source) else _problem_in_file(quote):
                run_id, step = attempt.step.plan.run_id, attempt.step.key
                yield f"The evidence of run {run_id}, step {step}, attempt {attempt.number} {problem}."


def _decisions() -> Iterator[str]:
    """Decisions that their lines in the audit trail do not record: who removes the last lines of the trail, and the
    number and the hash of the newest, leaves these.
    """
    first = AuditEntry.objects.order_by("number").first()
    if first is None:
        return
    decided = Gate.objects.filter(decided_at__gte=first.at).only("run_id", "status", "digest", "decided_by_id")
    gates = list(decided.order_by("id"))  # before the lines: those of decisions in the meantime do no harm
    lines = AuditEntry.objects.filter(kind=AuditKind.DECIDED).only("digest", "by_id", "details").order_by("number")
    by_gate = {line.details.get("gate"): line for line in lines.iterator(_AT_ONCE)}
    for gate in gates:
        line = by_gate.get(gate.pk)
        if line is None:
            yield f"Decision {gate.pk} of run {gate.run_id} has no line in the audit trail: the line was removed."
        elif differs(gate, line):
            yield f"Decision {gate.pk} of run {gate.run_id} is not the one in line {line.pk} of the audit trail."


def _quotes(judged: Judgement | Verdict) -> Iterator[Evidence]:
    evidence = [*(one.evidence for one in judged.results), *(one.evidence for one in judged.requests)]
    return (quote for some in evidence for quote in some if quote.verified and quote.kind == "quote")


def _is_text(source: str) -> bool:
    """Whether a source is a text of a tool, a model or a person, and not a file."""
    return source.startswith("@") and not source.startswith(RESULT)


def _problem_in_file(quote: Evidence) -> str:
    """What is wrong with a quote from a file, as the end of a sentence; empty if it is at its place."""
    try:
        document = renditions.document_of(quote.sha256)
        if document:
            is_there = isinstance(passage_in(quote.quote, document, quote.source), Passage)
        else:
            text = (trees.read_text(quote.sha256) or "")[quote.start : quote.end]
            is_there = find_quote(quote.quote, text, markup_of(quote.source)) is not None
    except FileNotFoundError:
        return f"is from {quote.source}, whose content {quote.sha256[:12]} is missing"
    return "" if is_there else f"is not at its place in {quote.source}"


def _problem_with_text(attempt: Attempt, quote: Evidence) -> str:
    """The same for what a tool or the executor said. What people said is in the history, and their changes are not kept
    as a text.
    """
    texts: Iterable[str]
    if quote.source == OUTPUT:
        texts = [attempt.output.findings] if attempt.output else []
    elif quote.source.startswith(TOOL):
        doer = attempt.reused_from or attempt
        calls = ToolCall.objects.filter(attempt=doer, generation=doer.work.generation)
        texts = calls.filter(ordinal=int(quote.source.removeprefix(TOOL))).values_list("result", flat=True)
    elif quote.source.startswith(STEP):
        key, _, number = quote.source.removeprefix(STEP).partition("/tool-")
        own = Attempt.objects.filter(step__plan__run=attempt.step.plan.run_id, step__key=key)
        doers = Q(attempt__in=own) | Q(attempt__in=own.values("reused_from"))
        texts = ToolCall.objects.filter(doers, ordinal=int(number)).values_list("result", flat=True)
    else:
        return ""
    digests = {hashlib.sha256(text.encode()).hexdigest() for text in texts}
    if not digests:
        return f"is from {quote.source}, which is no longer on record"
    return "" if quote.sha256 in digests else f"is from {quote.source}, whose text was changed since"
