"""When an approval has to come from a second person (see `permissions.first_people`), and who that can be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from runs.enums import Complexity
from runs.errors import LastSecondPerson
from runs.models import Gate, Plan, Run, Share, Step
from runs.models.gates import guards_high_risk
from runs.people.permissions import deciding_shares, files_for_plans, named_deciders, second_people
from runs.text.plural import pluralize

_NAMED_RUNS = 3
"""Runs that a warning names."""


def may_be_needed(run: Run) -> bool:
    """Whether a decision of this run may need one: by its policy, or by the setting of the installation."""
    return run.policy.second_person or guards_high_risk()


def is_needed_for_plan(run: Run, plan: Plan) -> bool:
    return run.policy.second_person or (guards_high_risk() and _has_high_risk(plan))


def is_needed_for_result(run: Run, step: Step) -> bool:
    """Whether accepting what the verdict on a result of this step did not needs one."""
    return run.policy.second_person or (guards_high_risk() and step.complexity == Complexity.HIGH)


def is_high_risk(gate: Gate) -> bool:
    """Whether it is about a call that acts outside, a high-risk step, or a plan that has or had one."""
    if gate.call is not None:
        return True
    if gate.step is not None:
        return gate.step.complexity == Complexity.HIGH
    return gate.plan is not None and _has_high_risk(gate.plan)


def _has_high_risk(plan: Plan) -> bool:
    """Whether this version or one before has a high-risk step: what an edit or a request made of it needs one too."""
    versions = Plan.objects.filter(run_id=plan.run_id, version__lte=plan.version)
    return versions.filter(steps__complexity=Complexity.HIGH).exists()


def has_one(run: Run) -> bool:
    """Whether someone with whom the run is shared may decide and is a second person. Administrators are not counted."""
    return second_people(named_deciders(run), run).exists()


def _shares_of_second_people() -> QuerySet[Share]:
    """The shares that let a second person decide, with a row for each `member` of a group."""
    edited = Plan.objects.filter(run_id=OuterRef("run_id"), author_id=OuterRef("member"))
    gave = files_for_plans().filter(run_id=OuterRef("run_id"), decided_by_id=OuterRef("member"))
    return deciding_shares().exclude(Q(member=F("run__owner_id"))).filter(~Exists(edited), ~Exists(gave))


@contextmanager
def kept(shares: Q) -> Iterator[None]:
    """Within a transaction: refuses a change of people that takes the only second person from a run that is shared with
    them (`shares`). Raises LastSecondPerson after the change, which the transaction takes back.
    """
    having = Run.objects.unfinished().filter(Exists(_shares_of_second_people().filter(run_id=OuterRef("pk"))))
    if not guards_high_risk():
        having = having.filter(policy__second_person=True)
    before = set(having.filter(pk__in=Share.objects.filter(shares).values("run_id")).values_list("pk", flat=True))
    yield
    if before and (lost := before.difference(having.filter(pk__in=before).values_list("pk", flat=True))):
        titles = Run.objects.filter(pk__in=lost).order_by("-pk").values_list("title", flat=True)[:_NAMED_RUNS]
        named = ", ".join(f"“{title}”" for title in titles)
        more = f" and {pluralize(len(lost) - _NAMED_RUNS, 'other')}" if len(lost) > _NAMED_RUNS else ""
        raise LastSecondPerson(
            f"No second person would be left for {pluralize(len(lost), 'run')}: {named}{more}. Only an administrator "
            "could approve there, until its owner shares it with someone else for decisions."
        )
