"""Runs the benchmarks and prints what they measured; `--json FILE` writes it too.

    uv run python -m tests.bench [--short] [--json FILE] [orchestration] [parallel] [concurrent] [cache]

Goals are for people to read. The exit status is 1 only when a shape is broken: a run that does not succeed, a step
that is lost or done twice, a figure that is missing, a cost that grows with the length of the plan. `--short` is for
that alone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.bench.figures import Figure, check_shape, table, write_json
from tests.bench.process import measured

NAMES = ("orchestration", "parallel", "concurrent", "cache")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure what pevsite costs.")
    parser.add_argument("names", nargs="*", help=f"which of {', '.join(NAMES)}; all of them")
    parser.add_argument("--short", action="store_true", help="small sizes: is the shape right?")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    found: dict[str, list[Figure]] = {}
    broken = False
    for name in options.names or NAMES:
        print(f"\n{name}", flush=True)
        try:
            found[name] = measured(name, short=options.short)
            print(table(found[name]), flush=True)
            check_shape(found[name])
        except Exception as error:
            broken = True
            print(f"  BROKEN: {type(error).__name__}: {error}", flush=True)
    if options.json:
        write_json(options.json, found, short=options.short)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
