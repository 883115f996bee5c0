"""Who may see a run and decide beside its owner: people come and go after it was submitted, and the history says so."""

from django.db.models import QuerySet

from runs.errors import InvalidInput
from runs.events import kinds as events
from runs.models import Run, User
from runs.people.permissions import check_can_choose_approvers
from runs.store import event_log


def possible_approvers(run: Run) -> QuerySet[User]:
    """Everybody who could be added: active, not the owner, not there yet."""
    others = User.objects.filter(is_active=True).exclude(pk=run.owner_id)
    return others.exclude(pk__in=run.approvers.values("pk")).order_by("username")


def add_approver(run_id: int, user: User, person: User) -> None:
    """Let this person see the run and decide in it from now on.

    It voids no second person: an approval by the owner stays refused whoever is on the list. Raises NotAllowed, or
    InvalidInput for the owner, somebody inactive, or somebody who is there already.
    """
    with event_log.writing():
        run = event_log.locked(run_id)
        check_can_choose_approvers(user, run)
        if not possible_approvers(run).filter(pk=person.pk).exists():
            raise InvalidInput(f"{person.get_username()} cannot be added: not active, or may decide here already.")
        run.approvers.add(person)
        event_log.record(run_id, events.ApproverAdded(by=user.get_username(), person=person.get_username()))


def remove_approver(run_id: int, user: User, person: User) -> None:
    """Let this person neither see the run nor decide in it any more; open pages close as with every event.

    What they have decided stays, with their name. Raises NotAllowed, or InvalidInput for somebody who is not there, or
    is the only second person of a run that needs one.
    """
    with event_log.writing():
        run = event_log.locked(run_id)  # a decision of theirs is before or after this, never beside it
        check_can_choose_approvers(user, run)
        approvers = list(run.approvers.all())
        if person not in approvers:
            raise InvalidInput(f"{person.get_username()} is not among those who may decide here.")
        left = [one for one in approvers if one.is_active and one not in (person, run.owner)]
        if run.policy.second_person and person.is_active and not left:
            raise InvalidInput(
                f"A second person has to approve in this run, and {person.get_username()} is the only one. Add "
                "somebody else first."
            )
        run.approvers.remove(person)
        event_log.record(run_id, events.ApproverRemoved(by=user.get_username(), person=person.get_username()))
