"""The part above every tab of a run: state, clocks, cost and tabs. The number of queries does not depend on the
plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.template.loader import render_to_string
from django.utils import timezone

from runs.accounting.usage import Clocks, clocks_of
from runs.enums import (
    Outcome,
    Role,
)
from runs.lifecycle.deletion import kept_until
from runs.models import User
from runs.people.permissions import named_deciders
from runs.readmodel.run_again import changes_of
from runs.readmodel.run_state import RunState
from runs.readmodel.status_words import words
from runs.submission.samples import is_finished_sample
from runs.web.site.requests import NOTHING_OFFERED, RunRights

FRAME = "run/frame.html"


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
class RunFrame(RunState):
    """A run as its header shows it; `tab` is the one that is open, or the empty word on pages beside the tabs, which
    are `under` one of them or under none.

    Pages call `read_title`, `read_state` or `read_header` before they render; news of a run reads only the parts that
    it sends. `rights` are those of the person who looks.
    """

    tab: str = ""
    under: str = ""
    rights: RunRights = NOTHING_OFFERED

    @property
    def sample(self) -> bool:
        """Whether it is a sample, which only exists to be looked at."""
        return is_finished_sample(self.run)

    @property
    def kept_until(self) -> datetime | None:
        """When the installation deletes it automatically, if ever."""
        return kept_until(self.run)

    @cached_property
    def clocks(self) -> Clocks:
        return clocks_of(self.run, timezone.now())

    @property
    def title(self) -> str:
        """The beginning of the title of every page of the run."""
        return "Needs a decision" if self.badge == "waiting" else words(self.badge).capitalize()

    @property
    def icon(self) -> str:
        """The name of the icon for its state: see static/icons."""
        return _ICONS.get(self.badge, "active")

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
_OUTCOME_TONES: Mapping[str, str] = {Outcome.SUCCEEDED: "good", Outcome.FAILED: "bad"}
