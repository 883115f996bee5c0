"""People, the links that sign them in, the access tokens of their programs, and what those programs asked for."""

from __future__ import annotations

import uuid
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.functional import cached_property

from runs.enums import LinkKind, TokenScope, Tour
from runs.models.fields import only, word_field
from runs.models.querysets import AccessTokenQuerySet, LinkQuerySet

SUBMIT, DECIDE, ADMINISTER = "runs.add_run", "runs.decide_run", "runs.administer"
"""The permissions that rules ask for. `runs.people.roles` says who holds them."""
DEFAULT_SCOPES = (TokenScope.RUNS_READ, TokenScope.RUNS_WRITE, TokenScope.GATES_READ)
"""What a token allows for which no scopes were chosen, and so each that is older than scopes."""


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
        return self._holds(ADMINISTER)

    @property
    def may_submit(self) -> bool:
        """Whether they may submit tasks."""
        return self._holds(SUBMIT)

    @property
    def may_decide(self) -> bool:
        """Whether they may decide in runs that are shared with them for that."""
        return self._holds(DECIDE)

    def _holds(self, permission: str) -> bool:
        return self.is_active and (self.is_superuser or permission in self._permissions)

    @cached_property
    def _permissions(self) -> frozenset[str]:
        """Those of the person and of their groups, in one query, where `has_perm` takes two. Read once, as there."""
        kinds = ("user_permissions", "groups__permissions")
        columns = [f"{kind}__{column}" for kind in kinds for column in ("content_type__app_label", "codename")]
        rows = User.objects.filter(pk=self.pk).order_by().values_list(*columns)
        return frozenset(f"{app}.{codename}" for row in rows for app, codename in (row[:2], row[2:]))

    def may_grant(self, scope: TokenScope) -> bool:
        """Whether a token of this person may have this scope now.

        It does not say that they may do all that the scope is about: who acts with a token needs the permissions that
        they need on the pages.
        """
        match scope:
            case TokenScope.GATES_DECIDE:
                return bool(settings.API and settings.API_DECIDES)
            case TokenScope.ADMIN:
                return bool(settings.API) and self.is_administrator
            case _:
                return True


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
    # As in OAuth: words with spaces between them. Those that a later version knows allow nothing here.
    scopes = models.CharField(max_length=200, db_default=" ".join(DEFAULT_SCOPES))

    objects = AccessTokenQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"token “{self.name}” of {self.user_id}"

    @property
    def chosen_scopes(self) -> list[TokenScope]:
        """The scopes that it was made with, in the order of the enumeration."""
        words = self.scopes.split()
        return [scope for scope in TokenScope if scope in words]

    def is_living(self, now: datetime) -> bool:
        """Whether it is one of those that `AccessToken.objects.living` finds."""
        return self.revoked_at is None and self.expires_at > now

    def allows(self, scope: TokenScope) -> bool:
        """Whether it has this scope, and its person may still grant that."""
        return scope in self.chosen_scopes and self.user.may_grant(scope)


class IdempotencyKey(models.Model):
    """A request of a program with an `Idempotency-Key`, and its answer. Sent again, it is not carried out twice."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="idempotency_keys")
    key = models.CharField(max_length=200)
    # The SHA-256 of the method, the address, the body and the scopes of the token.
    fingerprint = models.CharField(max_length=64)
    # Identifies what the request makes, such as `Run.submission`, so that carrying it out once more makes the same.
    # For an answer to an upload: its `Draft.token`, also if the request added to an upload that existed.
    makes = models.UUIDField(default=uuid.uuid4)
    created_at = models.DateTimeField(db_index=True)
    # While a process works on it, the time after which another may do so; null once it is answered.
    lease_until = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.TextField(default="")
    # The run that the answer is about: with the run, its words are deleted.
    run = models.ForeignKey("runs.Run", models.CASCADE, related_name="+", null=True)
    taken_over = False
    """Whether this process goes on with a request that another one has left. It is no column."""

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint("user", "key", name="one_request_per_idempotency_key"),
            models.CheckConstraint(
                condition=models.Q(lease_until__isnull=False, status__isnull=True)
                | models.Q(lease_until__isnull=True, status__isnull=False),
                name="idempotency_key_leased_or_answered",
            ),
        ]

    def __str__(self) -> str:
        return f"request {self.pk} of {self.user_id}"
