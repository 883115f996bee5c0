"""`manage.py calibrate`: measure how many planted faults the verifier lets through.

Exits 0 when every case was judged, 3 when it stopped before, 2 for wrong use.
"""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from runs.enums import FaultKind, Language
from runs.management.terminal import TerminalCommand

_AMOUNT = "an amount such as 5 or 2.50"


class Command(TerminalCommand):
    help = "Let a verifier judge generated jobs, half of them with a planted fault, and show what it lets through."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--verifier", default="", metavar="MODEL", help="its model (that of new runs)")
        parser.add_argument(
            "--size", type=int, metavar="N", help="planted faults (100); as many results again have no fault"
        )
        kinds = ", ".join(kind.value for kind in FaultKind)
        parser.add_argument("--kinds", type=_list_of(FaultKind), help=f"kinds of faults, by commas, of {kinds} (all)")
        parser.add_argument("--languages", type=_list_of(Language), help="of en, de, zh, by commas (all)")
        parser.add_argument("--seed", type=int, help="of the generated jobs; the same number makes the same jobs (1)")
        parser.add_argument(
            "--budget", type=_usd, metavar="USD", help="the most that it may spend in all; then it stops"
        )
        parser.add_argument(
            "--corrections",
            action="store_true",
            help="also judge the results that people judged otherwise than a verdict",
        )
        parser.add_argument("--resume", action="store_true", help="go on with the newest calibration that has stopped")
        parser.add_argument("--estimate", action="store_true", help="only say what it would cost")
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, **options: Any) -> None:
        from runs.management.calibrating import (
            Calibrating,  # the engine with all it needs; `--help` has to come at once
        )

        Calibrating(self.stdout, self.stderr, options).run()


def _list_of[Word: StrEnum](words: type[Word]) -> Callable[[str], list[Word]]:
    def read(text: str) -> list[Word]:
        names = [name.strip().lower().replace("-", "_").replace(" ", "_") for name in text.split(",") if name.strip()]
        if unknown := next((name for name in names if name not in set(words)), None):
            raise ArgumentTypeError(f"“{unknown}” is unknown; there are: {', '.join(words)}")
        return [word for word in words if word in names]

    return read


def _usd(text: str) -> Decimal:
    """Whole cents, rounded down: a budget is the most that may be spent."""
    try:
        amount = Decimal(text).quantize(Decimal("0.01"), ROUND_DOWN)
    except InvalidOperation as error:
        raise ArgumentTypeError(_AMOUNT) from error
    if not amount.is_finite():
        raise ArgumentTypeError(_AMOUNT)
    return amount
