"""Changes the code in random places, one at a time, and says which changes the tests find.

    uv run python -m tests.mutations [--seed N] [--count N] [--only N ...] [-- ARGUMENTS OF PYTEST]

The places are spread over the packages of `runs/`. Each change is made in a copy of the checkout: a comparison is
turned round, a condition is negated, `and` becomes `or`, a number is raised by one. The tests stop at the first
failure; those of the changed module's own package go first. A change that no test finds is printed with its place.
"""

from __future__ import annotations

import argparse
import ast
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.installation import ROOT

_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Mutation:
    """One expression of a module, and what replaces it. `start` and `end` are offsets in bytes."""

    path: Path
    line: int
    start: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before} -> {self.after}"

    def apply(self, checkout: Path) -> None:
        file = checkout / self.path
        data = file.read_bytes()
        file.write_bytes(data[: self.start] + self.after.encode() + data[self.end :])


def choose(seed: int, count: int) -> list[Mutation]:
    """Mutations at random places, in turn from each package of `runs/`. The same seed chooses the same places."""
    dice = random.Random(seed)
    packages: dict[str, list[Mutation]] = {}
    for file in sorted((ROOT / "runs").rglob("*.py")):
        path = file.relative_to(ROOT)
        if "migrations" not in path.parts:
            packages.setdefault(path.parts[1], []).extend(_mutations_in(path, file.read_bytes()))
    names = sorted(name for name, places in packages.items() if places)
    dice.shuffle(names)
    return [dice.choice(packages[names[number % len(names)]]) for number in range(count)]


def _mutations_in(path: Path, source: bytes) -> Iterator[Mutation]:
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for node in ast.walk(ast.parse(source)):
        if (after := _replacement(node)) is None:
            continue
        assert isinstance(node, ast.expr)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        yield Mutation(path, node.lineno, start, end, source[start:end].decode(), after)


def _replacement(node: ast.AST) -> str | None:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _OPPOSITES:
            changed = ast.Compare(node.left, [_OPPOSITES[type(operator)]()], node.comparators)
            return f"({ast.unparse(changed)})"
        case ast.BoolOp(op=operator):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            return f"({ast.unparse(ast.BoolOp(other, node.values))})"
        case ast.UnaryOp(op=ast.Not()):
            return f"bool({ast.unparse(node.operand)})"
        case ast.Constant(value=bool(value)):
            return str(not value)
        case ast.Constant(value=int(value)):
            return str(value + 1)
    return None


def _found_by(mutation: Mutation, arguments: Sequence[str]) -> str:
    """The last line of the run that found it, or the empty string."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".venv", ".git", ".*_cache", "__pycache__"))
        mutation.apply(checkout)
        own = [f"tests/{kind}/{'/'.join(mutation.path.parts[1:-1])}" for kind in ("unit", "integration")]
        near = [path for path in own if (checkout / path).is_dir() and not path.endswith("/")]
        for paths in ([near] if near else []) + [["tests"]]:
            command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", *arguments, *paths]
            ended = subprocess.run(
                command,
                cwd=checkout,
                capture_output=True,
                text=True,
                check=False,
            )
            if ended.returncode not in {0, 5}:  # 5: no test was selected
                failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return failed[0] if failed else ended.stdout[-300:] + ended.stderr[-300:]
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--only", type=int, nargs="*", help="the numbers of those to try")
    parser.add_argument("--list", action="store_true", help="print the changes and try none")
    options, arguments = parser.parse_known_args()
    missed = 0
    for number, mutation in enumerate(choose(options.seed, options.count), 1):
        if options.only and number not in options.only:
            continue
        print(f"{number}. {mutation}", flush=True)
        if not options.list:
            found = _found_by(mutation, [argument for argument in arguments if argument != "--"])
            missed += not found
            print(f"   {found[:200] or 'NOT FOUND'}", flush=True)
    print(f"{missed} not found" if not options.list else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
