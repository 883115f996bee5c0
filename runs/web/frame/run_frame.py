"""The part above every tab of a run: state, clocks, cost and tabs. The number of queries does not depend on the
plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Count, Exists, OuterRef, Q
from django.template.loader import render_to_string
from django.utils import timezone

from runs.accounting.costs import Totals, totals
from runs.accounting.usage import Clocks, clocks_of
from runs.enums import (
    OPEN_ATTEMPTS,
    SETTLED_STEPS,
    AttemptStatus,
    EventKind,
    Outcome,
    PlanStatus,
    Role,
    RunStatus,
    WorkStatus,
)
from runs.events.kinds import read
from runs.lifecycle.deletion import kept_until
from runs.lifecycle.gates.registry import type_of
from runs.models import Attempt, Gate, Overruling, Plan, Run, Step, User
from runs.people.permissions import named_deciders
from runs.readmodel.run_again import changes_of
from runs.readmodel.status_words import words
from runs.submission.samples import is_finished_sample
from runs.text.plural import pluralize
from runs.web.site.requests import NOTHING_OFFERED, RunRights

FRAME = "run/frame.html"
NAMED_STEPS = 3
"""Steps in progress that the sentence names."""


@dataclass(frozen=True)
class Progress:
    """The number of steps, how many of them are settled, and how many verdicts on them people overrule."""

    total: int
    done: int
    overruled: int


@dataclass(frozen=True)
class Tab:
    """`count` follows the name as text; empty for none."""

    name: str
    title: str
    count: str

    @property
    def address(self) -> str:
        """The name of its address pattern."""
        return "run" if self.name == "overview" else f"run_{self.name}"


@dataclass(frozen=True, eq=False)
class RunFrame:
    """A run as its header shows it; `tab` is the one that is open, or the empty word on pages beside the tabs, which
    are `under` one of them or under none.

    Each part is read once, when it is first needed. Pages call `read_title`, `read_state` or `read_header` before they
    render; news of a run reads only the parts that it sends. `rights` are those of the person who looks.
    """

    run: Run
    tab: str = ""
    under: str = ""
    rights: RunRights = NOTHING_OFFERED

    @property
    def sample(self) -> bool:
        """Whether it is a sample, which only exists to be looked at."""
        return is_finished_sample(self.run)

    @property
    def finished(self) -> bool:
        return self.run.status == RunStatus.FINISHED

    @property
    def kept_until(self) -> datetime | None:
        """When the installation deletes it automatically, if ever."""
        return kept_until(self.run)

    @cached_property
    def asked(self) -> list[Gate]:
        """The open gates, the oldest first."""
        return list(self.run.gates.open().order_by("pk"))

    @cached_property
    def plan(self) -> Plan | None:
        """The newest version."""
        return self.run.plans.newest()

    @cached_property
    def progress(self) -> Progress:
        """The progress of the newest version."""
        done = Count("pk", filter=Q(status__in=SETTLED_STEPS))
        about = Q(attempt__step=OuterRef("pk")) | Q(attempt=OuterRef("reused_from"))
        overruled = Count("pk", filter=Exists(Overruling.objects.in_force().filter(about)))
        steps = Step.objects.filter(plan=self.plan)
        return Progress(**steps.aggregate(total=Count("pk"), done=done, overruled=overruled))

    @cached_property
    def clocks(self) -> Clocks:
        return clocks_of(self.run, timezone.now())

    @cached_property
    def totals(self) -> Totals:
        return totals(self.run)

    @property
    def badge(self) -> str:
        """The word for the state of the run, which also colours title and icon."""
        if self.finished:
            return self.run.outcome or ""
        if self.run.paused:
            return "paused"
        return "waiting" if self.asked else self.run.status

    @property
    def title(self) -> str:
        """The beginning of the title of every page of the run."""
        return "Needs a decision" if self.badge == "waiting" else words(self.badge).capitalize()

    @property
    def icon(self) -> str:
        """The name of the icon for its state: see static/icons."""
        return _ICONS.get(self.badge, "active")

    @property
    def moving(self) -> bool:
        return not (self.finished or self.asked or self.run.paused)

    @cached_property
    def question(self) -> str:
        """What is asked now; empty if nothing is."""
        return "" if self.finished else " ".join(dict.fromkeys(type_of(gate).heading_of(gate) for gate in self.asked))

    @cached_property
    def sentence(self) -> str:
        """What happens now, besides a question, or the outcome of a finished run."""
        if self.finished:
            sentence = _OUTCOMES[Outcome(self.run.outcome or Outcome.FAILED)]
            if not (count := self.progress.overruled):
                return sentence
            return f"{sentence} People judged {pluralize(count, 'step')} otherwise than the verdict."
        parts = self._doing() if not self.question or self.run.status == RunStatus.EXECUTING else []
        if self.run.paused:
            parts.insert(0, "Paused: work in progress is finished; nothing new starts.")
        return " ".join(parts)

    def _doing(self) -> list[str]:
        match RunStatus(self.run.status):
            case RunStatus.PLANNING if self._reading:
                return [self._reading]
            case RunStatus.PLANNING:
                again = self.plan and self.plan.status != PlanStatus.PROPOSED
                version = self.plan.version + 1 if self.plan and again else 1
                what = f"version {version} of the plan" if version > 1 else "a plan"
                return [f"The planner writes {what}."]
            case RunStatus.FINALISING:
                return ["The final answer is being written and judged."]
            case RunStatus.EXECUTING:
                return list(_under_way(self._working))
            case _:
                return []

    @cached_property
    def _reading(self) -> str:
        """How far its documents are read, until they all are."""
        kinds = (EventKind.READING, EventKind.DOCUMENTS_READ)
        newest = self.run.events.filter(kind__in=kinds).order_by("seq").last()
        return read(newest.kind, newest.data).sentence({}) if newest and newest.kind == EventKind.READING else ""

    @cached_property
    def _working(self) -> Sequence[Attempt]:
        """Steps that are carried out now, without those that a gate holds."""
        found = Attempt.objects.of_run(self.run).filter(status__in=OPEN_ATTEMPTS).select_related("step")
        found = found.exclude(work__status=WorkStatus.SUSPENDED)
        return list(found.order_by("pk")[:NAMED_STEPS])

    @property
    def tabs(self) -> list[Tab]:
        return [self.tab_called(name) for name in _TABS]

    def tab_called(self, name: str) -> Tab:
        title, count = _TABS[name]
        return Tab(name, title, count(self))

    @cached_property
    def again(self) -> str:
        """Which run it repeats, and how it differs; empty if it repeats none."""
        if not self.run.before_id:
            return ""
        return f"run {self.run.before_id} again, {', '.join(changes_of(self.run)) or 'unchanged'}"

    @property
    def players(self) -> list[tuple[str, str]]:
        """The name of each role and of its model."""
        policy = self.run.policy
        fallback = [("second verifier", policy.fallback_verifier)] if policy.fallback_verifier else []
        roles = (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER)
        return [*((role.value, policy.model_for(role).model) for role in roles), *fallback]

    @property
    def outcome_tone(self) -> str:
        """The colour of the progress bar; empty for any other outcome, and while the run goes on."""
        return _OUTCOME_TONES.get(self.run.outcome or "", "")

    @cached_property
    def approvers(self) -> list[User]:
        """The people who may decide, by name."""
        return list(named_deciders(self.run))

    def read_title(self) -> RunFrame:
        """For pages that show only the title and the icon of the run."""
        _ = self.title
        return self

    def read_state(self) -> RunFrame:
        """For state, controls and tabs."""
        _ = (self.question, self.sentence, self.plan, self.progress, self.clocks, self.totals)
        return self

    def read_header(self) -> RunFrame:
        """For the whole header."""
        _ = (self.again, self.approvers)
        return self.read_state()


def replaced_head(frame: RunFrame) -> str:
    """State, controls and the open tabs, marked to replace those that a browser shows."""
    names = ["state", "controls", *(["tabs"] if frame.tab else [])]
    context = {"frame": frame.read_state(), "oob": True}
    return "".join(render_to_string(f"{FRAME}#{name}", context) for name in names)


_TABS: Mapping[str, tuple[str, Callable[[RunFrame], str]]] = {
    "overview": ("Overview", lambda _: ""),
    "plan": ("Plan", lambda frame: f"v{frame.plan.version}" if frame.plan else ""),
    "steps": ("Steps", lambda frame: f"{frame.progress.total:,}" if frame.progress.total else ""),
    "files": ("Files", lambda frame: f"{frame.run.head.file_count:,}"),
    "history": ("History", lambda frame: f"{frame.run.event_count:,}"),
    "cost": ("Cost", lambda frame: f"${frame.totals.cost:,.2f}" if frame.totals.calls else ""),
}
_ICONS = {
    "waiting": "waits",
    "paused": "calm",
    Outcome.SUCCEEDED: "good",
    Outcome.PARTIAL: "warn",
    Outcome.FAILED: "bad",
    Outcome.CANCELLED: "calm",
}
_OUTCOMES = {
    Outcome.SUCCEEDED: "Every step passed, and every success criterion has evidence that the server verified.",
    Outcome.PARTIAL: "The run finished with open points. Read them before the answer.",
    Outcome.FAILED: "The run ended without a usable result.",
    Outcome.CANCELLED: "A person stopped the run. What had passed by then is kept.",
}
_OUTCOME_TONES: Mapping[str, str] = {Outcome.SUCCEEDED: "good", Outcome.FAILED: "bad"}
_VERBS = {AttemptStatus.EXECUTING: "Working on", AttemptStatus.VERIFYING: "Verifying"}


def _under_way(attempts: Sequence[Attempt]) -> Iterator[str]:
    for attempt in attempts:
        again = f" (attempt {attempt.number})" if attempt.number > 1 else ""
        yield f"{_VERBS[AttemptStatus(attempt.status)]} “{attempt.step.spec.name}”{again}."
