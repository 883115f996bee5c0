"""The table of renditions: what contents in other encodings than UTF-8 read as text, or why they cannot be read."""

from django.db import models


class Rendition(models.Model):
    """What one reader made of one content, once and for good. Contents that are UTF-8 text need none.

    `source` and `text` are SHA-256 hashes in the store of files: of the content as it was given, and of its text in
    UTF-8, which was read as `codec`. Where it cannot be read both are empty, and `problem` says why, as a clause behind
    the file's name: "is a PDF file, which cannot be read yet".
    """

    source = models.CharField(max_length=64)
    reader = models.CharField(max_length=60)
    text = models.CharField(max_length=64, default="", blank=True)
    codec = models.CharField(max_length=40, default="", blank=True)
    problem = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["source", "reader"], name="one_rendition_by_each_reader"),
            models.CheckConstraint(
                condition=models.Q(problem="", text__gt="", codec__gt="") | models.Q(problem__gt="", text="", codec=""),
                name="rendition_has_text_or_problem",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source[:12]} {self.problem or f'read as {self.codec}'}"
