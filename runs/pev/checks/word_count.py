"""Checks the number of words in a file."""

import operator
from collections.abc import Mapping
from typing import Annotated, Literal

import regex
from pydantic import Field

from runs.contracts.base import MAX_COUNT
from runs.pev.checks.base import FileCheck, Label, text_in
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.patterns import Budget
from runs.text.plural import pluralize

_IDEOGRAPHS = r"\p{Han}\p{Hiragana}\p{Katakana}"
_NO_LIMIT = 1_000_000


class WordCount(FileCheck):
    order = 50
    title = "a file has so many words"
    stricter = {"min": operator.ge, "max": operator.le}
    is_quick = limits_size = True

    kind: Literal["word_count"]
    min: Annotated[int, Field(ge=0, le=MAX_COUNT), Label("At least")] = 0
    max: Annotated[int, Field(ge=1, le=MAX_COUNT), Label("At most", "If empty: no limit")] = _NO_LIMIT

    def words(self, commands: Mapping[str, str]) -> str:
        most = f" and at most {self.max:,}" if self.max < _NO_LIMIT else ""
        return f"{self.path} has at least {self.min:,}{most} words"

    def problem(self) -> str | None:
        if self.min <= self.max:
            return None
        return f"min ({self.min}) is more than max ({self.max}); no text can have so many words."

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        count = count_words(text_in(data))
        wanted = f"{self.min:,} to {self.max:,}" if self.max < _NO_LIMIT else f"at least {self.min:,}"
        return CheckResult(self.min <= count <= self.max, f"has {pluralize(count, 'word')}, wanted {wanted}")


def count_words(text: str) -> int:
    """Counts runs of characters without spaces that have a letter or digit. Each ideograph counts as a word."""
    pieces = regex.finditer(rf"[{_IDEOGRAPHS}]|[^\s{_IDEOGRAPHS}]+", text)
    return sum(1 for piece in pieces if any(map(str.isalnum, piece[0])))
