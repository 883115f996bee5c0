"""What a spreadsheet would make of a table: cells that it computes instead of showing them."""

import re

from runs.text.csv_tables import NotCsv, rows_in

_NUMBER = re.compile(r"[+-][\d.,\s%]*")
_STARTS = frozenset("=@\t\r＝＋－＠")


def formulas_in(path: str, text: str) -> int:
    """How many cells of a CSV or TSV file would be computed; 0 for other files.

    What a run writes stays as it is, to the byte: checks, quotes and approvals are bound to it. So it is said instead.
    """
    if not path.lower().endswith((".csv", ".tsv")):
        return 0
    count = 0
    try:
        for row in rows_in(text):
            count += sum(map(_is_computed, row.cells))
    except NotCsv:  # what was counted before the place that cannot be read is true
        pass
    return count


def _is_computed(cell: str) -> bool:
    start = cell.lstrip(" ")[:1]
    return start in _STARTS if start not in {"+", "-", ""} else bool(start) and not _NUMBER.fullmatch(cell.strip())
