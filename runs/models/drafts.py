"""The tables of drafts: files that were sent for a run before it is submitted."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.models.fields import Column, ContractField
from runs.text.paths import MAX_CHARACTERS


class Draft(models.Model):
    """A form of a new run that has files already. `token` is that of the form, and becomes the run's `submission`.

    It is forgotten after `expires_at`, which each file that comes in moves on. `left_out`: what the sender has not
    sent, since it may hold secrets. `before`: the run that is to be run again, with which its form was filled.
    """

    token = models.UUIDField(unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="drafts")
    left_out: Column[tuple[str, ...]] = ContractField(tuple[str, ...], default=tuple)
    before = models.ForeignKey("Run", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"draft {self.token}"


class DraftFile(models.Model):
    """A file of a draft. `removed` ones are kept until the draft goes: their contents lie on the disk until then.

    `sent_as`: the path that it came with, where it lies in the place of a file of the run before, of the same name.
    `beside`: a person has said that it replaces none. `caution`: what is doubtful about its name, as a sentence.
    `encoding`: a person has chosen to read the content `given` in it, a removed file; this one is that text as UTF-8.
    """

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="files")
    path = models.CharField(max_length=MAX_CHARACTERS)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    removed = models.BooleanField(default=False)
    sent_as = models.CharField(max_length=MAX_CHARACTERS, default="", blank=True)
    beside = models.BooleanField(default=False)
    caution = models.CharField(max_length=300, default="", db_default="", blank=True)
    encoding = models.CharField(max_length=40, default="", db_default="", blank=True)
    given = models.CharField(max_length=64, default="", db_default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["draft", "path"], condition=models.Q(removed=False), name="draft_path_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.path} of draft {self.draft_id}"
