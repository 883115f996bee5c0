"""Changes the code in random places, one at a time, and says which changes the tests find.

    uv run python -m tests.mutations [--seed N] [--count N] [--list] [ARGUMENTS OF PYTEST ...]

The places are spread over the packages of `runs/` and lie in functions. A comparison is turned round, a condition
negated, `and` becomes `or`, a number is raised by one. One run of the tests with a probe at every place finds out which
tests reach it; then each change is tried with those alone, until the first of them fails. All of it happens in a copy
of the checkout.
"""

from __future__ import annotations

import argparse
import ast
import os
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
_PROBE = """import os

def reach(number, value):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    with open(os.path.join({folder!r}, str(number)), "a") as file:
        file.write(test + "\\n")
    return value
"""
"""The module that the copy of the checkout gets. A process that a test starts inherits the name of the test."""
MAX_TESTS = 400
"""So many of the tests that reach a place are tried, spread over all of them."""


@dataclass(frozen=True)
class Mutation:
    """One expression of a module, and what replaces it. `start` and `end` are offsets in bytes."""

    path: Path
    line: int
    start: int
    end: int
    before: str
    after: str

    def overlaps(self, other: Mutation) -> bool:
        return self.path == other.path and self.start < other.end and other.start < self.end

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before} -> {self.after}"


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
    chosen: list[Mutation] = []
    while len(chosen) < count:
        mutation = dice.choice(packages[names[len(chosen) % len(names)]])
        if not any(mutation.overlaps(other) for other in chosen):
            chosen.append(mutation)
    return chosen


def _mutations_in(path: Path, source: bytes) -> Iterator[Mutation]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _expressions(ast.parse(source)):
        if (after := _replacement(node)) is None or node.end_lineno is None or node.end_col_offset is None:
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        yield Mutation(path, node.lineno, start, end, source[start:end].decode(), after)


def _expressions(module: ast.Module) -> Iterator[ast.expr]:
    """Those of the bodies of functions, without patterns and parts of f-strings, where no call can stand."""
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    seen: set[ast.AST] = set()
    waiting: list[ast.AST] = [statement for function in functions for statement in function.body]
    while waiting:
        node = waiting.pop()
        if node in seen or isinstance(node, ast.pattern | ast.JoinedStr | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        seen.add(node)
        if isinstance(node, ast.expr):
            yield node
        waiting += ast.iter_child_nodes(node)


def _replacement(node: ast.expr) -> str | None:
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


class Copy:
    """A copy of the checkout in which single expressions are replaced."""

    def __init__(self, folder: Path) -> None:
        self._checkout = folder / "checkout"
        self._hits = folder / "hits"
        self._hits.mkdir()
        left_out = shutil.ignore_patterns(".venv", ".git", ".*_cache", "__pycache__", ".data")
        shutil.copytree(ROOT, self._checkout, ignore=left_out)
        (self._checkout / "mutation_probe.py").write_text(_PROBE.format(folder=str(self._hits)))

    def tests_that_reach(self, mutations: Sequence[Mutation], arguments: Sequence[str]) -> list[list[str]]:
        """Of each mutation the ids of tests, in the order in which they came there; of all the tests chosen."""
        by_path: dict[Path, list[tuple[Mutation, str]]] = {}
        for number, mutation in enumerate(mutations):
            probe = f"__import__('mutation_probe').reach({number}, {mutation.before})"
            by_path.setdefault(mutation.path, []).append((mutation, probe))
        for path, changes in by_path.items():
            self._write(path, changes)
        ended = self._pytest([*arguments, "-q", "--no-header"])
        assert ended.returncode in {0, 1}, f"the tests cannot be run:\n{ended.stdout[-2_000:]}{ended.stderr[-2_000:]}"
        for path in by_path:
            self._write(path, [])
        return [self._read(number) for number in range(len(mutations))]

    def failing_test(self, mutation: Mutation, tests: Sequence[str]) -> str:
        """The first test that fails with this change, or the empty string."""
        self._write(mutation.path, [(mutation, mutation.after)])
        ended = self._pytest(["-m", "", "-x", "-q", "--no-header", *tests])
        self._write(mutation.path, [])
        failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return failed[0] if failed and ended.returncode in {1, 2} else ""  # 2: a module cannot be imported any more

    def _write(self, path: Path, changes: Sequence[tuple[Mutation, str]]) -> None:
        data = (ROOT / path).read_bytes()
        for mutation, text in sorted(changes, key=lambda change: -change[0].start):
            data = data[: mutation.start] + text.encode() + data[mutation.end :]
        (self._checkout / path).write_bytes(data)

    def _read(self, number: int) -> list[str]:
        file = self._hits / str(number)
        return [test for test in dict.fromkeys(file.read_text().splitlines()) if test] if file.exists() else []

    def _pytest(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", *arguments]
        # Python would take the compiled form of a file that has the same size and was changed in the same second.
        environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, cwd=self._checkout, env=environ, capture_output=True, text=True, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--list", action="store_true", help="print the changes and try none")
    options, arguments = parser.parse_known_args()
    mutations = choose(options.seed, options.count)
    if options.list:
        print(*mutations, sep="\n")
        return 0
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for mutation, tests in zip(mutations, copy.tests_that_reach(mutations, arguments), strict=True):
            tried = tests[:: 1 + len(tests) // MAX_TESTS]
            failing = copy.failing_test(mutation, tried) if tried else ""
            found += bool(failing)
            print(f"{mutation}\n    reached by {len(tests)} tests: {failing[:160] or 'NOT FOUND'}", flush=True)
    print(f"{found} of {len(mutations)} changes were found.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
