"""What the audit trail records of signing in, by allauth's signals."""

from allauth.account.authentication import get_authentication_records
from allauth.account.signals import password_changed, password_reset, password_set
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.signals import user_logged_out
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest

from runs.enums import AuditKind
from runs.models import User
from runs.store import audit_trail
from runs.web.site import refusals

_PROVIDER = "identity provider"


def signed_in(request: HttpRequest, person: User) -> None:
    """A person has signed in, by the methods that allauth has noted in the session; it notes none for a link."""
    records = get_authentication_records(request)
    methods = [str(record.get("type") or record.get("method", "")) for record in records] or ["link"]
    audit_trail.record(AuditKind.SIGNED_IN, by=person, subject=person.get_username(), name=", ".join(methods)[:200])


@receiver(user_logged_out)
def _signed_out(user: User | None = None, **_: object) -> None:
    if user is not None:
        audit_trail.record(AuditKind.SIGNED_OUT, by=user, subject=user.get_username())


@receiver((password_set, password_changed, password_reset))
def _password_changed(user: User, **_: object) -> None:
    audit_trail.record(AuditKind.PASSWORD_CHANGED, by=user, subject=user.get_username())


@receiver(post_save, sender=Authenticator)
def _factor_added(instance: Authenticator, *, created: bool, **_: object) -> None:
    """Of the row, in its transaction: allauth sends its own signals after the commit."""
    if created:
        subject, name = instance.user.get_username(), _method_of(instance)
        audit_trail.record(AuditKind.FACTOR_ADDED, subject=subject, person=instance.user_id, name=name)


@receiver(post_delete, sender=Authenticator)
def _factor_removed(instance: Authenticator, **_: object) -> None:
    subject, name = instance.user.get_username(), _method_of(instance)
    audit_trail.record(AuditKind.FACTOR_REMOVED, subject=subject, person=instance.user_id, name=name)


@receiver(post_save, sender=SocialAccount)
def _connected(instance: SocialAccount, *, created: bool, **_: object) -> None:
    if created:
        subject, name = instance.user.get_username(), _PROVIDER
        audit_trail.record(AuditKind.FACTOR_ADDED, subject=subject, person=instance.user_id, name=name)


@receiver(post_delete, sender=SocialAccount)
def _disconnected(instance: SocialAccount, **_: object) -> None:
    subject = instance.user.get_username()
    audit_trail.record(AuditKind.FACTOR_REMOVED, subject=subject, person=instance.user_id, name=_PROVIDER)


@receiver(authentication_failed)
def _factor_refused(request: HttpRequest, user: User, **_: object) -> None:
    refusals.sign_in_refused("second factor", request.META.get("REMOTE_ADDR", ""), user.get_username())


def _method_of(authenticator: Authenticator) -> str:
    return str(Authenticator.Type(authenticator.type).label)[:100]
