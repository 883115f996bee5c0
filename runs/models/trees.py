"""The table of trees: immutable sets of files, each stored as its difference to a root tree."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from django.db import models

from runs.contracts.ports import Changes, FileInfo
from runs.models.fields import Column, ContractField
from runs.text.plural import pluralize


def tree_digest(files: Mapping[str, FileInfo]) -> str:
    """The digest of the tree of these files, which are sorted by path, whether it is stored or not."""
    return hashlib.sha256("\n".join(f"{info.sha256}  {path}" for path, info in files.items()).encode()).hexdigest()


class Tree(models.Model):
    """`changes` maps path to [sha256, size], or to null where the root's file is gone.

    A root has no `root` and lists every file. `digest` is the SHA-256 over the sorted lines
    `sha256  path`, so equal trees have equal digests. Rows are never changed.
    """

    digest = models.CharField(max_length=64, unique=True)
    root = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    changes: Column[Changes] = ContractField(Changes, default=dict)
    file_count = models.PositiveIntegerField()
    total_size = models.PositiveBigIntegerField()

    def __str__(self) -> str:
        return f"tree {self.digest[:12]} ({pluralize(self.file_count, 'file')})"
