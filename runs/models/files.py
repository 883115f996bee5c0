"""Trees of files, what their contents read as, and files that were sent before a run is submitted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from django.conf import settings
from django.db import models

from runs.contracts.ports import Changes, FileInfo
from runs.models.fields import Column, ContractField
from runs.models.querysets import RenditionQuerySet
from runs.text.paths import MAX_CHARACTERS
from runs.text.plural import pluralize


def tree_digest(files: Mapping[str, FileInfo]) -> str:
    """The digest of the tree with these files, which must be sorted by path."""
    return hashlib.sha256("\n".join(f"{info.sha256}  {path}" for path, info in files.items()).encode()).hexdigest()


class Tree(models.Model):
    """An immutable set of files, stored as its difference from a root tree. A root lists every file itself."""

    # SHA-256 over the sorted lines `sha256  path`, so that equal trees have equal digests.
    digest = models.CharField(max_length=64, unique=True)
    root = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    # Path to [sha256, size], or to null for a file of the root that is missing here.
    changes: Column[Changes] = ContractField(Changes, default=dict)
    file_count = models.PositiveIntegerField()
    total_size = models.PositiveBigIntegerField()

    # What `store.trees.readings_of` has read about the contents, for as long as this instance is in memory.
    readings: object = None

    def __str__(self) -> str:
        return f"tree {self.digest[:12]} ({pluralize(self.file_count, 'file')})"


class Rendition(models.Model):
    """The text that one reader made of one content, or why there is none. UTF-8 text needs no rendition.

    Without `text` and `problem` it is waiting for its reader.
    """

    # The SHA-256 of the content as it was given.
    source = models.CharField(max_length=64)
    reader = models.CharField(max_length=120)
    format = models.CharField(max_length=8, default="", blank=True)
    # Hashes in the blob store: of the text in UTF-8, and of its places in the document
    # (`documents.model.layout.Rendered`).
    text = models.CharField(max_length=64, default="", blank=True)
    layout = models.CharField(max_length=64, default="", blank=True)
    # The encoding of a text that is not UTF-8; it has no layout.
    codec = models.CharField(max_length=40, default="", blank=True)
    # The size for people, e.g. "12 pages".
    extent = models.CharField(max_length=80, default="", blank=True)
    characters = models.PositiveIntegerField(default=0)
    # Pages that models may see as pictures, and how many of them are mostly pictures or tables.
    pages = models.PositiveIntegerField(default=0)
    pictorial = models.PositiveIntegerField(default=0)
    # What could not be read, and what to know before relying on the text; one sentence each.
    notes: Column[tuple[str, ...]] = ContractField(tuple[str, ...], default=tuple)
    cautions: Column[tuple[str, ...]] = ContractField(tuple[str, ...], default=tuple, blank=True)
    # Why it cannot be read, as a clause after the name of the file: "needs a password; save it without one".
    problem = models.CharField(max_length=300, default="", blank=True)
    # How often a reader has begun; the present one has it until `taken_until`.
    tries = models.PositiveSmallIntegerField(default=0)
    taken_until = models.DateTimeField(null=True, blank=True)

    objects = RenditionQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["text", "problem", "source"], name="rendition_waiting")]
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


class Draft(models.Model):
    """A form of a new run that has files already. Its token becomes the run's `submission`."""

    token = models.UUIDField(unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="drafts")
    # Paths that the sender kept back because they may hold secrets.
    left_out: Column[tuple[str, ...]] = ContractField(tuple[str, ...], default=tuple)
    # The run that is to be run again.
    before = models.ForeignKey("Run", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # Each new file moves it on.
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"draft {self.token}"


class DraftFile(models.Model):
    """A file of a draft. Removed files keep their contents until the draft goes."""

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="files")
    path = models.CharField(max_length=MAX_CHARACTERS)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    removed = models.BooleanField(default=False)
    # The path that it came with, if it takes the place of a file of the same name in the run before.
    sent_as = models.CharField(max_length=MAX_CHARACTERS, default="", blank=True)
    # A person has said that it replaces no other file.
    beside = models.BooleanField(default=False)
    # What is doubtful about its name, as a sentence.
    caution = models.CharField(max_length=300, default="", blank=True)
    # A person chose to read the content with the hash `given` in this encoding; this file is that text as UTF-8.
    encoding = models.CharField(max_length=40, default="", blank=True)
    given = models.CharField(max_length=64, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["draft", "path"], condition=models.Q(removed=False), name="draft_path_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.path} of draft {self.draft_id}"
