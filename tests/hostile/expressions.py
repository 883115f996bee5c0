"""All regular expressions of the product, as they are in its code, and texts that are made to be dear to them."""

import ast
import dataclasses
import importlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import regex

from tests.installation import ROOT

FUNCTIONS = {"compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"}
COMMON = " \t\n\r\u00a0aA0_.,;:-*+|#<>[](){}\"'`~\\/äß合"
CHARACTERS = 10_000
_APPLYING = re.compile(rf"[A-Za-z_]\.(?:{'|'.join(FUNCTIONS)})\(")
SECONDS = 0.06
"""For so many characters: the slowest of ours takes a seventh of that, a quadratic one several times as much."""

type Expression = re.Pattern[Any] | regex.Pattern[Any]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def modules() -> Sequence[tuple[str, ModuleType, ast.Module]]:
    """Path, module and syntax tree of each module of the product that uses regular expressions."""
    return list(_modules())


def _modules() -> Iterator[tuple[str, ModuleType, ast.Module]]:
    for path in sorted(p for folder in ("pevsite", "runs") for p in (ROOT / folder).rglob("*.py")):
        source = path.read_text()
        name = str(path.relative_to(ROOT))
        if "migrations" not in path.parts and re.search(r"^(?:import|from) (?:re|regex)\b", source, re.MULTILINE):
            dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            yield name, importlib.import_module(dotted), parsed(path)


def written() -> Iterator[tuple[str, Expression | None, set[str]]]:
    """Each call of `re` and `regex`: where it stands, its expression if that is known without running the code, and
    the methods by which it is applied.
    """
    for name, module, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _is_call(node):
                function = node.func.attr  # type: ignore[attr-defined]
                if function != "compile":
                    yield f"{name}: {ast.unparse(node.args[0])[:60]}", _evaluated(node, module), {function}
                elif _evaluated(node, module) is None:
                    yield f"{name}: {ast.unparse(node.args[0])[:60]}", None, set()


def kept() -> Iterator[tuple[str, Expression, set[str]]]:
    """What the modules have compiled when they are imported, also inside of tuples, mappings and small objects."""
    applied = _applied()
    for name, module, _ in modules():
        for variable, value in vars(module).items():
            methods = applied.get(_known_as(variable, name), FUNCTIONS)
            for expression in _inside(value, depth=4):
                yield f"{name}: {variable}", expression, methods


def _applied() -> dict[str, set[str]]:
    """The methods that are called on each name: on a private one in its module, on others anywhere in the product."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "runs").rglob("*.py"):
        source = path.read_text()
        for node in ast.walk(parsed(path)) if _APPLYING.search(source) else ():
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=method)):
                    if method in FUNCTIONS:
                        found.setdefault(_known_as(name, str(path.relative_to(ROOT))), set()).add(method)
    return found


def _known_as(name: str, module: str) -> str:
    return f"{module}: {name}" if name.startswith("_") else name


def _is_call(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re" | "regex"), attr=attr), args=[_, *_]):
            return attr in FUNCTIONS
        case _:
            return False


def _evaluated(node: Any, module: ModuleType) -> Expression | None:
    flags = [
        argument for argument in node.args[1:] if "re." in ast.unparse(argument) or "regex." in ast.unparse(argument)
    ]
    flags += [keyword.value for keyword in node.keywords if keyword.arg == "flags"]
    call = ast.Call(ast.Attribute(node.func.value, "compile", ast.Load()), [node.args[0], *flags], [])
    code = compile(ast.fix_missing_locations(ast.Expression(call)), "expression", "eval")
    try:
        return eval(code, vars(module))  # type: ignore[no-any-return]
    except NameError:  # it depends on a variable of its function
        return None


def _inside(value: object, depth: int) -> Iterator[Expression]:
    inner: Iterable[object] = ()
    if isinstance(value, re.Pattern | regex.Pattern):
        yield value
    elif isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, tuple | list | set | frozenset):
        inner = value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if depth:
        for each in inner:
            yield from _inside(each, depth - 1)


def hostile_texts(expression: Expression, characters: int) -> Iterator[str]:
    """Repeats of single characters, of the expression's own words, and of pairs of them, with ends that do not fit."""
    source = _source(expression)
    words = re.findall(r"[^\W\d_]{2,}", re.sub(r"\\\w|\(\?\w+[:)]", " ", source))[:12]
    own = sorted({char for char in re.sub(r"\\[dDwWsSbBZA]", "", source) if not char.isalnum()} | set(COMMON))
    units = [
        *own,
        *words,
        *(f"{word} " for word in words),
        "aA0",
        "a ",
        " a\n",
        "A a ",
        "0.",
        "- a",
        "| a ",
        "ab. ",
        "**a",
    ]
    for unit in units:
        text = (unit * (characters // len(unit) + 1))[:characters]
        yield text
        yield f"{text}\0"
    for word in words[:6]:
        yield f"{word}{' ' * characters}\0"
        yield f"{word} {'a' * characters}\0"


def looked_at() -> tuple[list[str], set[str], int]:
    """Where the expressions stand that take too long, with the beginning of the text they take too long for; where
    those stand that are not looked at; and how many different ones the modules keep.
    """
    in_calls, in_modules = list(written()), list(kept())
    left_out = {where for where, expression, _ in in_calls if expression is None}
    return slow_ones([*in_calls, *in_modules]), left_out, len({expression for _, expression, _ in in_modules})


def slow_ones(found: Iterable[tuple[str, Expression | None, set[str]]]) -> list[str]:
    every: dict[tuple[Any, int], tuple[str, Expression, set[str]]] = {}
    for where, expression, methods in found:
        if expression is not None:
            same = every.setdefault((expression.pattern, expression.flags), (where, expression, set()))
            same[2].update(methods)
    slow = ((where, _first_slow(expression, methods)) for where, expression, methods in every.values())
    return [f"{where}: {text}" for where, text in slow if text]


def _first_slow(expression: Expression, methods: set[str]) -> str:
    """A tenth of a text that is too dear by its square takes a hundredth of the time, a quarter a sixteenth. Most texts
    take less than four fifths of that, and are not tried in full.
    """
    for number, tenth in enumerate(hostile_texts(expression, CHARACTERS // 10)):
        if not _may_be_slow(expression, methods, tenth, SECONDS / 125):
            continue
        if _is_slow(expression, methods, tenth, SECONDS):
            return f"{tenth[:20]!r} in {len(tenth):,} characters"
        quarter, text = (
            next(islice(hostile_texts(expression, size), number, None)) for size in (CHARACTERS // 4, CHARACTERS)
        )
        if _may_be_slow(expression, methods, quarter, SECONDS / 20) and _is_slow(expression, methods, text, SECONDS):
            return f"{text[:20]!r} in {CHARACTERS:,} characters"
    return ""


def _is_slow(expression: Expression, methods: set[str], text: str, seconds: float) -> bool:
    """Three times in a row: once may be the machine's doing."""
    return all(_seconds(expression, methods, text) > seconds for _ in range(3))


def _may_be_slow(expression: Expression, methods: set[str], text: str, seconds: float) -> bool:
    """By the clock, which never shows less than the processor's time; that may be counted in steps of milliseconds."""
    return all(_seconds(expression, methods, text, time.perf_counter) > seconds for _ in range(3))


def _source(expression: Expression) -> str:
    return expression.pattern.decode("latin-1") if isinstance(expression.pattern, bytes) else expression.pattern


def _seconds(
    expression: Expression, methods: set[str], text: str, clock: Callable[[], float] = time.process_time
) -> float:
    searched = text.encode() if isinstance(expression.pattern, bytes) else text
    began = clock()
    if methods - {"match", "fullmatch"}:
        for _ in expression.finditer(searched):
            pass
    else:
        for method in methods:
            getattr(expression, method)(searched)
    return clock() - began
