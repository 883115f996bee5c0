"""People, the links that sign them in, and the access tokens of their programs."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models

from runs.enums import LinkKind, Tour
from runs.models.fields import only, word_field
from runs.models.querysets import AccessTokenQuerySet, LinkQuerySet

SUBMIT, DECIDE, ADMINISTER = "runs.add_run", "runs.decide_run", "runs.administer"
"""The permissions that rules ask for. `runs.people.roles` says who holds them."""


class User(AbstractUser):
    """A person. They sign in with a link, a passkey or a password, which is unusable until they set one."""

    # Sessions that began before have ended (see `runs.web.site.sessions.ends_at`).
    signed_out_at = models.DateTimeField(null=True, blank=True, editable=False)
    # An IANA name; empty for that of the installation.
    time_zone = models.CharField(max_length=64, default="", db_default="", blank=True)
    tour = word_field(Tour, default=Tour.FIRST_RUN.value, db_default=Tour.FIRST_RUN.value, editable=False)

    @property
    def is_administrator(self) -> bool:
        """Whether they may see all runs, and manage people and rows of the installation."""
        return self.is_active and self.has_perm(ADMINISTER)

    @property
    def may_submit(self) -> bool:
        """Whether they may submit tasks."""
        return self.is_active and self.has_perm(SUBMIT)


class Link(models.Model):
    """A sign-in link that works once. Only the hash of its token is stored, so the database gives no access."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="links")
    kind = word_field(LinkKind)
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    objects = LinkQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [only("kind", LinkKind, "link_kind_known")]

    def __str__(self) -> str:
        return f"{self.kind} link {self.pk} of {self.user_id}"


class AccessToken(models.Model):
    """A token with which a program acts for a person. Only its hash is stored. Issuing a token deletes ended ones."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="access_tokens")
    name = models.CharField(max_length=60)
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    # As exact as `access_tokens.NOTED_EVERY`.
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = AccessTokenQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"token “{self.name}” of {self.user_id}"
