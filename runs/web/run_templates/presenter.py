"""A template on its page: the plan, what one may do with it, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass

from runs.accounting.past_estimates import estimate_without_files
from runs.models import Template
from runs.pev.plans.estimate import Estimate
from runs.pev.policy import Policy
from runs.submission.run_templates import SHIPPED, Chosen


@dataclass(frozen=True)
class TemplatePage:
    """`own`: the row of one that the person has saved; None for one that ships."""

    key: str
    chosen: Chosen
    own: Template | None
    needs_a_model: bool

    @property
    def name(self) -> str:
        return self.own.name if self.own else SHIPPED[self.key].name

    @property
    def description(self) -> str:
        return self.own.description if self.own else SHIPPED[self.key].description

    def estimate(self, policy: Policy) -> Estimate:
        return estimate_of(self.chosen, policy)


def estimate_of(chosen: Chosen, policy: Policy) -> Estimate:
    """What the plan of a template may cost under a policy. Files count only by what earlier runs cost."""
    return estimate_without_files(chosen.plan, policy)
