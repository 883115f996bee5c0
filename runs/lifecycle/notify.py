"""How the engine learns of new work: it says here what is to be called with the id of a work item."""

from collections.abc import Callable

from django.db import transaction

_receivers: list[Callable[[int], object]] = []


def notify_with(receiver: Callable[[int], object]) -> None:
    """From now on `receiver` is called, and what was before it is not."""
    _receivers[:] = [receiver]


def notify(work_id: int) -> None:
    """Tell the engine of this item after the commit (D2). A receiver that fails is logged; the sweeper makes up."""
    for receiver in _receivers:
        transaction.on_commit(lambda receiver=receiver: receiver(work_id), robust=True)  # type: ignore[misc]
