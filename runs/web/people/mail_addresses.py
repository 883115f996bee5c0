"""E-mail addresses of people: who is notified when one is removed or replaced, and where there is no mail, no page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import uuid4

from allauth.account.models import EmailAddress
from allauth.account.signals import email_added, email_changed, email_confirmed, email_removed
from allauth.account.views import ConfirmEmailView
from django.conf import settings
from django.dispatch import Signal, receiver
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from runs.enums import AuditKind, NoticeKind
from runs.models import User
from runs.people import outbox
from runs.store import audit_trail


def if_mail_is_sent(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Raises Http404 on installations without a mail server."""

    @wraps(view)
    def answer(request: HttpRequest, **given: Any) -> HttpResponseBase:
        if not settings.MAILERS:
            raise Http404("No mail is sent here.")
        return view(request, **given)

    return answer


class ConfirmEmail(ConfirmEmailView):
    def logout_other_user(self, confirmation: object) -> None:
        """To look at a link changes nothing, and to confirm an address signs no one in."""


confirm_email = ConfirmEmail.as_view()


_DONE = {
    email_added: "added",
    email_confirmed: "confirmed",
    email_removed: "removed",
    email_changed: "chosen for notices",
}


@receiver(list(_DONE))
def _record(
    signal: Signal, email_address: EmailAddress | None = None, to_email_address: EmailAddress | None = None, **_: Any
) -> None:
    """Without the address, because lines are never deleted."""
    if address := email_address or to_email_address:
        audit_trail.record(AuditKind.SETTING_CHANGED, by=address.user, subject="e-mail address", name=_DONE[signal])


@receiver(email_removed)
def _tell_removed(user: User, email_address: EmailAddress, **given: Any) -> None:
    _tell_at(user, email_address, f"the e-mail address {email_address.email} was removed")


@receiver(email_changed)
def _tell_changed(
    user: User, from_email_address: EmailAddress | None, to_email_address: EmailAddress, **given: Any
) -> None:
    if from_email_address is not None:
        _tell_at(user, from_email_address, f"notices now go to {to_email_address.email}")


def _tell_at(user: User, address: EmailAddress, about: str) -> None:
    """Tell a person at an address that gets nothing any more. One that was never confirmed may be someone else's."""
    if address.verified:
        outbox.tell(user, NoticeKind.ACCOUNT, about=about[:200], occurrence=uuid4().hex, address=address.email)
