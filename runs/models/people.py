"""The tables of people, of the links that sign them in, and of the tokens with which their programs act for them."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models

from runs.enums import LinkKind
from runs.models.fields import only, word_field
from runs.models.querysets import AccessTokenQuerySet, LinkQuerySet


class User(AbstractUser):
    """A person who signs in by link. The unusable password is a random text that sessions are bound to.

    `signed_out_at`: when all sessions of the person were ended at once, which is done by another random text.
    """

    signed_out_at = models.DateTimeField(null=True, blank=True, editable=False)


class Link(models.Model):
    """A way in that works once. Of its token only the hash is stored: who reads the database cannot sign in."""

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
    """What a program of a person shows to act for them. Only the hash is stored: who reads the database has none.

    `last_used_at` is as exact as `access_tokens.NOTED_EVERY`. A token that has ended is kept until a new one is made.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="access_tokens")
    name = models.CharField(max_length=60)
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = AccessTokenQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"token “{self.name}” of {self.user_id}"
