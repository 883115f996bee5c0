"""The tool that calculates, so that figures rest on a calculation that people and the server can check."""

from typing import Annotated

from pydantic import Field, StringConstraints

from runs.contracts.base import JsonObject
from runs.contracts.ports import ToolResult
from runs.enums import Effect
from runs.pev.read_set import ReadTracker
from runs.pev.tools.tool import Results, Shows, Tool, ToolContext
from runs.text.arithmetic import FUNCTIONS, MAX_CHARACTERS, MAX_DECIMALS, calculated

MAX_UNIT = 40  # characters


class Calculate(Tool):
    name = "calculate"
    effect = Effect.READS_FILES
    results = Results.FINDINGS
    shows = Shows.NONE
    is_basic = True
    description = (
        "Computes an expression of decimal numbers, such as 5450000 / 720.2, with + - * / ** and brackets and the "
        f"functions {FUNCTIONS}. Read the figures that it "
        "is made of first, and write them as they stand there, without separators of thousands: 19 / 100 for 19 %. "
        "What was not read before makes the result a mere claim."
    )

    expression: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CHARACTERS)]
    unit: Annotated[str, StringConstraints(max_length=MAX_UNIT), Field(description="Of the result, as in EUR")] = ""
    decimals: Annotated[int, Field(ge=0, le=MAX_DECIMALS)] | None = None

    def run(self, context: ToolContext) -> ToolResult:
        found = calculated(self.expression, self.decimals)
        rounded = "" if found.exact else " (rounded)"
        unit = " ".join(self.unit.split())
        # on a line of its own, because the unit is the model's word and not a result of code
        return ToolResult(f"{found.shown} = {found.figure}{rounded}" + (f"\nin {unit}" if unit else ""))

    def looks_at(self, looks: ReadTracker) -> None:
        """Depends on no file."""

    @classmethod
    def calculation_in(cls, arguments: JsonObject) -> str:
        return cls.model_validate(arguments).expression
