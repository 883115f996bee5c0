"""Checks that a CSV file has certain columns."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from runs.contracts.base import Line
from runs.pev.checks.base import FileCheck, Label, includes, text_in
from runs.pev.checks.material import CheckInput, CheckResult
from runs.pev.checks.tables import CsvTable, in_short
from runs.text.patterns import Budget
from runs.text.plural import pluralize, word_for
from runs.text.truncate import quoted


class CsvColumns(FileCheck):
    order = 80
    title = "a CSV file has certain columns"
    stricter = {"columns": includes}
    is_quick = True

    kind: Literal["csv_columns"]
    columns: Annotated[list[Line], Field(min_length=1, max_length=100), Label("Columns", "One per line")]

    def words(self, commands: Mapping[str, str]) -> str:
        return f"{self.path} has the columns {', '.join(self.columns)}"

    def problem(self) -> str | None:
        repeated = [name for name in self.columns if self.columns.count(name) > 1]
        return f"The column {quoted(repeated[0])} is named twice." if repeated else None

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        header = CsvTable(text_in(data), self.columns).header
        lacking = [name for name in self.columns if name not in header]
        if not header:
            return CheckResult(False, "has no header row")
        named = in_short(header)
        if not lacking:
            return CheckResult(True, f"has all {pluralize(len(self.columns), 'column')} wanted; it has {named}", 1)
        columns = word_for(len(lacking), "column")
        return CheckResult(False, f"lacks the {columns} {', '.join(map(quoted, lacking))}; it has {named}", 1)
