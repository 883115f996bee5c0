"""Checks that every citation of a file leads to what it quotes."""

import operator
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from runs.documents.content import document_of
from runs.enums import Provenance
from runs.evidence.citations.citing import broken_in, may_cite
from runs.evidence.citations.lookup import citations_in, noted_in
from runs.evidence.sources import OUTSIDE, GivenFiles, Sources
from runs.pev.checks.base import COMPARING_SECONDS, FileCheck, Label, text_in
from runs.pev.checks.material import LISTED, CheckInput, CheckResult
from runs.text.patterns import Budget
from runs.text.plural import pluralize
from runs.text.truncate import quoted


class Citations(FileCheck):
    """Every citation of the Markdown file leads to what it quotes, and there are `min` of them or more."""

    order = 110
    title = "every citation of a file leads to what it quotes"
    seconds = COMPARING_SECONDS
    stricter = {"min": operator.ge}
    can_compare = counts_each = True

    kind: Literal["citations"]
    min: Annotated[int, Field(ge=0, le=100_000), Label("At least so many citations", "If empty: 1")] = 1

    def words(self, commands: Mapping[str, str]) -> str:
        least = f", at least {self.min:,} of them" if self.min > 1 else ""
        return f"each citation of {self.path} leads to what it quotes{least}"

    def problem(self) -> str | None:
        if may_cite(self.path):
            return None
        return f"{quoted(self.path)} is not a Markdown, Word or PDF file; only those have citations."

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        text = text_in(data)
        sources = material.library or Sources(material.files, GivenFiles(material.given))
        document = document_of(data)
        cited = noted_in(document, sources) if document else citations_in(text, sources)
        counted = f"has {pluralize(len(cited.citations), 'citation')}, wanted at least {self.min:,}"
        if broken := broken_in(cited):
            more = f" And {len(broken) - LISTED:,} more." if len(broken) > LISTED else ""
            first = cited.broken[0].line if cited.broken else 0
            return CheckResult(False, f"{counted}; {len(broken):,} broken. {' '.join(broken[:LISTED])}{more}", first)
        origins = {one.provenance for one in cited.citations}
        given, observed = Provenance.GIVEN in origins, not origins.isdisjoint(OUTSIDE)
        held = len(cited.citations) >= self.min
        return CheckResult(held, f"{counted}, all found", outside=given, observed=observed and not given)
