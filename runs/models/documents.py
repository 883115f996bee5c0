"""The table of renditions: what contents that are no UTF-8 read as, or why they cannot be read."""

from __future__ import annotations

from django.db import models

from runs.models.fields import Column, ContractField
from runs.models.querysets import RenditionQuerySet


class Rendition(models.Model):
    """What one reader made of one content, once and for good. Contents that are UTF-8 text need none.

    `source`, `text` and `layout` are SHA-256 hashes in the store of files: of the content as it was given, of its text
    in UTF-8, and of where in the document that stands (`pev.documents.layout.Rendered`). A text in another encoding was
    read as `codec` and has no layout. `extent` is how much it is ("12 pages"). It has so many `pages` that models may
    see as they look, of which `pictorial` are mostly pictures or tables. `notes` say what of it could not be read,
    `cautions` what to know before relying on its text. Where it cannot be read at all, `problem` says why, as a clause
    behind the file's name: "needs a password; save it without one". Without text and problem it waits for its reader,
    who has it until `taken_until`, and has had it `tries` times.
    """

    source = models.CharField(max_length=64)
    reader = models.CharField(max_length=120)
    format = models.CharField(max_length=8, default="", blank=True)
    text = models.CharField(max_length=64, default="", blank=True)
    layout = models.CharField(max_length=64, default="", blank=True)
    codec = models.CharField(max_length=40, default="", blank=True)
    extent = models.CharField(max_length=80, default="", blank=True)
    characters = models.PositiveIntegerField(default=0)
    pages = models.PositiveIntegerField(default=0)
    pictorial = models.PositiveIntegerField(default=0)
    notes: Column[tuple[str, ...]] = ContractField(tuple[str, ...], default=tuple)
    cautions: Column[tuple[str, ...] | None] = ContractField(tuple[str, ...], null=True, blank=True, default=None)
    problem = models.CharField(max_length=300, default="", blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    taken_until = models.DateTimeField(null=True, blank=True)

    objects = RenditionQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["source"], condition=models.Q(text="", problem=""), name="rendition_waiting"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["source", "reader"], name="one_rendition_by_each_reader"),
            models.CheckConstraint(
                condition=models.Q(text="", codec="", layout="")
                | models.Q(text__gt="", codec__gt="", layout="", problem="")
                | models.Q(text__gt="", codec="", layout__gt="", problem=""),
                name="rendition_has_text_or_problem",
            ),
            models.CheckConstraint(
                condition=models.Q(format__gt="") | models.Q(text__gt="") | models.Q(problem__gt=""),
                name="rendition_waits_for_a_known_reader",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source[:12]} {self.problem or self.reader}"
