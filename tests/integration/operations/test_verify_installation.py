"""`manage.py verify`: what is as it was passes, and each kind of damage is one sentence."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F

from runs.enums import AuditKind
from runs.models import AuditEntry, AuditHead, Event, Gate, Run, ToolCall, Tree, Verdict
from runs.store import audit_triggers, blobs
from tests import factories as made

pytestmark = pytest.mark.django_db


def verify() -> list[str]:
    """What it prints, and the sentence that it ends with."""
    told, end = StringIO(), []
    try:
        call_command("verify", stdout=told)
    except CommandError as error:
        end.append(str(error))
    return [*told.getvalue().splitlines(), *end]


@pytest.mark.services
def test_what_is_as_it_was_passes() -> None:
    made.finished_succeeded()
    looked, trail, said = verify()
    assert trail.startswith("The audit trail has ")
    assert looked.startswith("Looked at ")
    assert " 1 histories and 0 quotes" not in looked
    assert said == "Everything matches its hash."


def blob(run: Run) -> Path:
    [info, *_] = (info for info in run.inputs.changes.values() if info)
    return Path(blobs.store().path(blobs.name_of(info.sha256)))


def other_quote(run: Run) -> None:
    """The first verified quote from a file, with other words in its row."""
    for verdict in Verdict.objects.filter(attempt__step__plan__run=run).order_by("id"):
        for result in verdict.results:
            for at, one in enumerate(result.evidence):
                if one.kind == "quote" and one.verified and not one.source.startswith("@"):
                    result.evidence[at] = one.model_copy(update={"quote": "words that stand nowhere"})
                    verdict.save()
                    return


def cut_trail(run: Run) -> None:
    """The trail ends before the last decision, and its head says so too."""
    last = AuditEntry.objects.filter(kind=AuditKind.DECIDED).latest("number")
    audit_triggers.drop(connection)
    AuditEntry.objects.filter(number__gte=last.number).delete()
    audit_triggers.make(connection)
    newest = AuditEntry.objects.latest("number")
    AuditHead.objects.update(number=newest.number, hash=newest.hash)


DAMAGES: dict[str, tuple[Callable[[Run], object], str]] = {
    "a changed file": (lambda run: blob(run).write_bytes(b"other"), "does not match its hash"),
    "a lost file": (lambda run: blob(run).unlink(), " is missing: “"),
    "a changed tree": (
        lambda run: Tree.objects.filter(pk=run.inputs_id).update(total_size=F("total_size") + 1),
        "does not match its digest",
    ),
    "a lost event": (lambda run: Event.objects.filter(run=run, seq=2).delete(), "has gaps"),
    "lost events at the end": (
        lambda run: Event.objects.filter(run=run, seq=run.event_count).delete(),
        "are not numbered from 1 to the last",
    ),
    "a cut audit trail": (cut_trail, "has no line in the audit trail: the line was removed"),
    "another decision": (
        lambda run: Gate.objects.filter(run=run, status="approved").update(decided_by=made.charlie()),
        " of the audit trail.",
    ),
    "another quote": (other_quote, "step inventory, attempt 1 is not at its place in review/inventory.md"),
    "another result of a tool": (
        lambda run: ToolCall.objects.filter(run=run).update(result="made on 15 March 2026"),
        "is from @tool-2, whose text was changed since",
    ),
    "a lost result of a tool": (
        lambda run: ToolCall.objects.filter(run=run).delete(),
        "is from @tool-2, which is no longer on record",
    ),
}


@pytest.mark.parametrize(("damage", "sentence"), DAMAGES.values(), ids=DAMAGES)
def test_damage_is_said(damage: Callable[[Run], object], sentence: str) -> None:
    damage(Run.objects.get(pk=made.finished_succeeded().pk))
    *found, looked, _, end = verify()
    assert any(sentence in line for line in found)
    assert looked.startswith("Looked at ")
    assert end.endswith("found. Restore what is named above from a back-up.")
