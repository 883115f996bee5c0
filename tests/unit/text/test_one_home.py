"""What is done to texts has one home: looks for copies in the source."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HOMES = {"runs/text/plural.py", "runs/text/truncate.py"}
EXCEPTIONS = {
    "runs/engine/live_text.py": "cuts at bytes of JSON, and keeps the end",
    "runs/pev/delimiters.py": "says how many characters are missing, for models",
    "runs/pev/checks/tables.py": "cuts a list of names",
    "runs/evidence/citations/citation_reader.py": "cuts a list of figures",
    "runs/readmodel/run_again.py": "cuts a list of names",
    "runs/web/files/excerpt.py": "cuts the beginning of a line, up to its hit",
    "runs/operations/settings_audit.py": "cuts a value and adds its hash",
    "runs/readmodel/audit_lines.py": "cuts a hash",
    "runs/acts/http_request.py": "keeps the end of a host, which says whose it is",
}
_ENDING = re.compile(r"^(?:s|es|ies)$")
_MAY_HAVE_PLURALS = re.compile(r"[\"'](?:e?s|ies)[\"']| if [^\n]*[=<>] 1\b")
_MAY_HAVE_TRUNCATION = re.compile(r"…|\.\.\.[\"']|\(cut")
_BEHIND = re.compile(r"\s*(?:…|\.\.\.|\(cut)")
_BEFORE = re.compile(r"(?:…|\.\.\.)\s*$")
_IN_TEMPLATE = re.compile(r"%\}(?:e?s|ies)\{%\s*(?:endif|else)")


def plurals(source: str) -> list[int]:
    """The lines of conditional expressions that choose between a word and its plural."""
    if not _MAY_HAVE_PLURALS.search(source):  # which is found much sooner than by parsing
        return []
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.IfExp | ast.BinOp))
    return sorted({node.lineno for node in nodes if _is_plural(node)})


def _is_plural(node: ast.IfExp | ast.BinOp) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult) and any(_text(side) == "s" for side in (node.left, node.right))
    one, more = sorted((_text(node.body), _text(node.orelse)), key=len)
    if _ENDING.match(more):
        return True
    counts = any(isinstance(part, ast.Constant) and part.value == 1 for part in ast.walk(node.test))
    words = more in {f"{one}s", f"{one}es", f"{one[:-1]}ies"} or one.startswith("1 ") or more.startswith("1 ")
    return counts and (words or any(_appends_s(part) for arm in (node.body, node.orelse) for part in ast.walk(arm)))


def _appends_s(node: ast.AST) -> bool:
    """True for `f"{noun}s"` and `noun + "s"`."""
    if isinstance(node, ast.JoinedStr):
        return len(node.values) > 1 and _text(node.values[-1]) == "s"
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _text(node.right) == "s"


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def truncations(source: str) -> list[int]:
    """The lines of expressions that put an ellipsis behind a slice."""
    if not _MAY_HAVE_TRUNCATION.search(source):
        return []
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.JoinedStr | ast.BinOp))
    return sorted({node.lineno for node in nodes if _is_truncation(node)})


def _is_truncation(node: ast.JoinedStr | ast.BinOp) -> bool:
    if isinstance(node, ast.BinOp):
        texts = [_text(one) for one in ast.walk(node) if isinstance(one, ast.expr)]
        return isinstance(node.op, ast.Add) and _is_cut(node) and any("…" in text or "..." in text for text in texts)
    return any(
        (_is_cut(one) and _BEHIND.match(_text(other))) or (_is_cut(other) and _BEFORE.search(_text(one)))
        for one, other in pairwise(node.values)
    )


def _is_cut(node: ast.expr) -> bool:
    return any(isinstance(one, ast.Slice) for one in ast.walk(node))


@pytest.mark.parametrize(
    "source",
    [
        "f\"{count} file{'' if count == 1 else 's'}\"",
        "f\"{count} file{'s' if count > 1 else ''}\"",
        "'line' if len(lines) == 1 else 'lines'",
        "noun if count == 1 else f'{noun}s'",
        "noun if count == 1 else plural or noun + 's'",
        "noun if count == 1 else noun + 's'",
        "'1 reply' if count == 1 else f'{count} replies'",
        "'match' if count == 1 else 'matches'",
        "'copies' if count != 1 else 'copy'",
        "'run' + 's' * (count > 1)",
    ],
)
def test_plurals_are_found(source: str) -> None:
    assert plurals(source) == [1]


@pytest.mark.parametrize(
    "source",
    [
        "text if len(text) <= 80 else f'{text[:80]}…'",
        "text if len(text) <= 80 else text[:79].rstrip() + '…'",
        "f'{text[:80]} …' if len(text) > 80 else text",
        "f'…{text[-80:]}'",
        "text[:80] + (' …' if len(text) > 80 else '')",
        "f'{text[:80]}\\n(cut here; {len(text) - 80} characters more)'",
        "text[:77] + '...'",
    ],
)
def test_truncations_are_found(source: str) -> None:
    assert truncations(source) == [1]


@pytest.mark.parametrize(
    "source",
    [
        "'' if problem is None else problem.sentence",
        "'is' if ready else 'was'",
        "'https' if is_secure else 'http'",
        "label if len(label) == 1 else names[label]",
        "f'{seconds}s'",
        "f'{digest[:12]}'",
        "pluralize(count, 'file')",
        "f'{name}, …'",
        "f'not a reference (#/…) to {name[:100]}'",
        "f'{name[:1].upper()}{name[1:]}'",
    ],
)
def test_other_expressions_are_not_found(source: str) -> None:
    assert plurals(source) == truncations(source) == []


def copies() -> Iterator[str]:
    """The modules that make plurals or cut texts themselves."""
    for folder in ("runs", "pevsite"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name not in HOMES and "/migrations/" not in name:
                source = path.read_text()
                if plurals(source) or truncations(source):
                    yield name


@pytest.mark.slow
def test_no_module_has_plurals_or_truncation_of_its_own() -> None:
    found = set(copies())
    assert found == set(EXCEPTIONS)


def test_templates_make_plurals_with_the_filter_of_django() -> None:
    templates = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "templates").rglob("*.txt")]
    found = [path.name for path in templates if _IN_TEMPLATE.search(path.read_text())]
    assert len(templates) > 10
    assert found == []


OTHER_HOMES: dict[str, tuple[re.Pattern[str], set[str], dict[str, str]]] = {
    "ends of sentences": (
        re.compile(r"\[[^\]\n]{0,9}[.][^\]\n]{0,4}!\?[^\]\n]{0,9}\]|\[[^\]\n]{0,9}。[^\]\n]{0,2}！"),
        {"runs/text/sentences.py"},
        {
            "runs/documents/formats/pdf/columns.py": "ends of lines, after which no column goes on",
            "runs/text/negations.py": "what a negation does not reach across",
            "runs/text/normalisation.py": "where a chunk may be cut",
        },
    ),
    "differences of texts": (
        re.compile(r"\bdifflib\b|\bSequenceMatcher\b|rapidfuzz\.distance"),
        {"runs/text/diff.py"},
        {"runs/documents/formats/pdf/unnamed.py": "how alike two words are that OCR has read"},
    ),
    "words of numbers": (
        re.compile(r"(?i)\b(?:eleven|twelve|elf|zwölf)\b.{1,20}\b(?:thirteen|twelve|zwölf|dreizehn)\b", re.DOTALL),
        {"runs/text/numerals.py"},
        {},
    ),
    "characters that no one sees": (
        re.compile(r"Default_Ignorable_Code_Point\}|\\u200b-\\u200|\\u2060-\\u206"),
        {"runs/text/ignorable.py"},
        {},
    ),
    "legal forms of companies": (re.compile(r"GmbH[^`\n]{0,80}\|"), {"runs/text/names.py"}, {}),
    "the depth of JSON": (
        re.compile(r"isinstance\(\w+, dict \| list\).{0,200}\(\w+\.values\(\) if isinstance", re.DOTALL),
        {"runs/text/json_values.py"},
        {},
    ),
}
"""By what is done: an expression that finds it, its home, and other modules that do something else with the reason."""


def modules() -> Iterator[tuple[str, str]]:
    for folder in ("runs", "pevsite"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("what", OTHER_HOMES)
def test_it_is_done_in_one_place(what: str) -> None:
    expression, homes, others = OTHER_HOMES[what]
    assert {name for name, source in modules() if expression.search(source)} == homes | others.keys()


@pytest.mark.parametrize(
    ("what", "source"),
    [
        ("ends of sentences", 'END = re.compile(r"(?<=[.!?])\\s")'),
        ("ends of sentences", 'END = re.compile("[。！？]")'),
        ("ends of sentences", 'text.split(r"[.:!?;]")'),
        ("differences of texts", "from difflib import SequenceMatcher"),
        ("differences of texts", "from rapidfuzz.distance import Indel"),
        ("words of numbers", 'ONES = "ten eleven twelve thirteen"'),
        ("words of numbers", '("eleven",\n "twelve",\n "thirteen")'),
        ("words of numbers", '"zehn elf zwölf dreizehn"'),
        ("characters that no one sees", 'regex.compile(r"\\p{Default_Ignorable_Code_Point}+")'),
        ("characters that no one sees", 'HIDDEN = "[\\u200b-\\u200f\\u2060-\\u2064]"'),
        ("legal forms of companies", 'FORM = r"(?:AG|GmbH|Ltd)"'),
        (
            "the depth of JSON",
            "[x for a in level if isinstance(a, dict | list) for x in (a.values() if isinstance(a, dict) else a)]",
        ),
    ],
)
def test_copies_are_found(what: str, source: str) -> None:
    assert OTHER_HOMES[what][0].search(source)


@pytest.mark.parametrize(
    "name", ["visible_text", "sentences_in", "sentence_ends", "line_diff", "truncate", "pluralize", "ordinal"]
)
@pytest.mark.slow
def test_names_of_operations_on_texts_are_used_once(name: str) -> None:
    assert len([path for path, source in modules() if re.search(rf"^def {name}\(", source, re.MULTILINE)]) == 1
