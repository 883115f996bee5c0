"""The tables of people and of the links that sign them in. The product's own, so that fields can be added."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models

from runs.enums import LinkKind
from runs.models.fields import only, word_field
from runs.models.querysets import LinkQuerySet


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
