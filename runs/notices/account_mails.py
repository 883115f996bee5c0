"""Mails by which a person confirms an address or sets a new password. Their links are made when they are sent, so that
the database contains none.
"""

from __future__ import annotations

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from django.urls import reverse

from runs.enums import NoticeKind
from runs.models import Notice, User


def resettable(address: str) -> list[User]:
    """The active people with a password who have confirmed this address."""
    confirmed = EmailAddress.objects.filter(email__iexact=address, verified=True).select_related("user")
    return [one.user for one in confirmed if one.user.is_active and one.user.has_usable_password()]


def is_needed(notice: Notice) -> bool:
    """Whether the link of this notice would still be of use."""
    if notice.kind == NoticeKind.PASSWORD_RESET:
        return notice.user in resettable(notice.address)
    return _unconfirmed(notice) is not None


def path_of(notice: Notice) -> str:
    """The path of the link, which works for whoever has it."""
    if notice.kind == NoticeKind.PASSWORD_RESET:
        uid, key = user_pk_to_url_str(notice.user), default_token_generator.make_token(notice.user)
        return reverse("account_reset_password_from_key", args=[uid, key])
    address = _unconfirmed(notice)
    assert address is not None
    return reverse("account_confirm_email", args=[EmailConfirmationHMAC.create(address).key])


def _unconfirmed(notice: Notice) -> EmailAddress | None:
    return EmailAddress.objects.filter(user=notice.user, email__iexact=notice.address, verified=False).first()
