"""Runs the benchmarks and prints what they measured; `--json FILE` writes it too.

    uv run python -m tests.bench [--short] [--json FILE] [--peers PYTHON] [--corpus FOLDER] [orchestration] ...

`--peers` names an interpreter that has peers. With langgraph and langgraph-checkpoint-sqlite, `compared` measures both
in the same run; `documents` measures those of markitdown, kreuzberg, mammoth, python-docx, docx2python, pypdf, odfdo
and striprtf that it has. `--corpus` is where `tests.documents.corpus` has put real documents; without them `documents`
measures generated ones alone.

Goals are for people to read. The exit status is 1 only when a shape is broken: a run that does not succeed, a step
that is lost or done twice, a figure that is missing, a cost that grows with the length of the plan. `--short` is for
that alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.figures import Figure, check_shape, table, write_json
from tests.bench.process import measured
from tests.documents.corpus import CACHE

DOCUMENTS = "documents"
NAMES = (
    "orchestration",
    "parallel",
    "concurrent",
    "cache",
    "starting",
    "live",
    "lists",
    "inbox",
    "api",
    "measures",
    "reports",
    "catch",
    "tracing",
    DOCUMENTS,
)
COMPARED = "compared"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure what pevsite costs.")
    parser.add_argument("names", nargs="*", help=f"which of {', '.join(NAMES)}, {COMPARED}; all that can be measured")
    parser.add_argument("--short", action="store_true", help="small sizes: is the shape right?")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    parser.add_argument("--peers", metavar="PYTHON", help="the interpreter that has the peers to compare with")
    parser.add_argument("--corpus", type=Path, default=CACHE, metavar="FOLDER", help="real documents for `documents`")
    options = parser.parse_args()
    known = (*NAMES, COMPARED) if options.peers else NAMES
    if unknown := set(options.names) - set(known):
        hint = " without --peers" if unknown == {COMPARED} else ""
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}{hint}")
    with tempfile.TemporaryDirectory() as folder:
        return _run(options, known, Path(folder) / "migrated.sqlite3")


def _run(options: argparse.Namespace, known: Sequence[str], migrated: Path) -> int:
    figures: dict[str, list[Figure]] = {}
    broken = False
    for name in options.names or known:
        print(f"\n{name}", flush=True)
        arguments: dict[str, Any] = {"python": options.peers} if name in {COMPARED, DOCUMENTS} else {}
        if name == DOCUMENTS:
            arguments["corpus"] = options.corpus
        try:
            figures[name] = measured(name, migrated, short=options.short, **arguments)
            print(table(figures[name]), flush=True)
            check_shape(figures[name])
        except Exception as error:
            broken = True
            print(f"  BROKEN: {type(error).__name__}: {error}", flush=True)
    if options.json:
        write_json(options.json, figures, short=options.short)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
