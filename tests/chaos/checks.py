"""What must hold after everything that was done to an installation, recomputed from its raw rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Max, Min

from runs.enums import AttemptStatus, Outcome, WorkStatus
from runs.models import Attempt, Event, ModelCall, Run, Step, ToolCall, WorkItem
from runs.operations.verify_installation import Verified
from runs.operations.verify_installation import faults as damage
from runs.store import blobs, trees
from tests.chaos.service import Served

STEPS = ("one", "two", "three", "four")
GRACE = 3.0
"""Seconds from the end of an answer to the commit of its row, on a machine that is busy with starting processes."""


@dataclass(frozen=True)
class Blow:
    """Something was done at this monotonic time, until then, by which at most so many answers could be lost."""

    began_at: float
    ended_at: float
    answers: int


def faults(submitted: Collection[UUID], served: Mapping[str, Served], blows: Sequence[Blow]) -> Iterator[str]:
    """A sentence for each thing that is lost, there twice, or not what it should be."""
    runs = list(Run.objects.order_by("pk"))
    found = Counter(run.submission for run in runs)
    yield from (f"a submission is {found[token]} runs" for token in submitted if found[token] != 1)
    for run in runs:
        yield from (f"run {run.pk}: {problem}" for problem in _of_run(run))
    left = WorkItem.objects.exclude(status__in=[WorkStatus.DONE, WorkStatus.CANCELLED]).count()
    if left:
        yield f"{left} work items are left although all runs have ended"
    yield from _twice()
    yield from damage(Verified())
    yield from _journal(served, blows)


def _of_run(run: Run) -> Iterator[str]:
    if run.outcome != Outcome.SUCCEEDED:
        yield f"ended as {run.outcome}: {run.failure}"
        return
    passed = Counter(
        Attempt.objects.of_run(run).filter(status=AttemptStatus.PASSED).values_list("step__key", flat=True)
    )
    if passed != Counter(STEPS):
        yield f"passed attempts by step are {dict(passed)}"
    files = {path: blobs.read(info.sha256).decode() for path, info in trees.files_of(run.head).items()}
    if files.keys() != {"notes.md", *(f"{name}.md" for name in STEPS)}:
        yield f"its files are {sorted(files)}"
    yield from (
        f"{name}.md holds {files[f'{name}.md']!r}"
        for name in STEPS
        if f"{name}.md" in files and not files[f"{name}.md"].startswith(f"Found by {name}")
    )


def _twice() -> Iterator[str]:
    events = Event.objects.values("run").annotate(count=Count("pk"), first=Min("seq"), last=Max("seq"))
    for run, count, first, last in events.values_list("run", "count", "first", "last"):
        if (first, last) != (1, count):
            yield f"run {run}: {count} events have the numbers from {first} to {last}"
    for what, rows, key in (
        ("attempts", Attempt.objects, ("step", "number")),
        ("tool calls", ToolCall.objects, ("work", "generation", "ordinal")),
        ("replies", ModelCall.objects.live(), ("work", "generation", "ordinal")),
        ("steps", Step.objects, ("plan", "key")),
    ):
        doubles = rows.order_by().values(*key).annotate(count=Count("pk")).filter(count__gt=1).count()
        if doubles:
            yield f"{doubles} {what} are there more than once"


def _journal(served: Mapping[str, Served], blows: Sequence[Blow]) -> Iterator[str]:
    """Each answer that left is in one row with its tokens, or a blow fell while it was on its way."""
    prompt_parts = ("input_tokens", "cache_read_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens")
    rows = ModelCall.objects.filter(error="").values_list("request_id", *prompt_parts, "output_tokens")
    written: dict[str, tuple[int, int]] = {}
    for request_id, *prompt, output in rows:
        if request_id in written:
            yield f"answer {request_id} is in the journal twice"
        written[request_id] = (sum(prompt), output)
    for request_id, tokens in written.items():
        one = served.get(request_id)
        if one is None or (one.input, one.output) != tokens:
            yield f"answer {request_id} is in the journal with {tokens}; the service knows {one}"
    missing = sorted((one for name, one in served.items() if name not in written), key=lambda one: one.asked_at)
    room = {blow: blow.answers for blow in blows}
    for one in missing:
        until = one.left_at + GRACE
        near = (
            blow for blow, free in room.items() if free and one.asked_at <= blow.ended_at and blow.began_at <= until
        )
        if blow := next(near, None):
            room[blow] -= 1
        else:
            yield f"answer {one.request_id} left and is not in the journal, and nothing was killed then"


def counted(served: Mapping[str, Served]) -> tuple[int, int]:
    """Answers that left, and those in the journal."""
    return len(served), ModelCall.objects.filter(error="").count()
