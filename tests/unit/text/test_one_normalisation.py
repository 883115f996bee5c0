"""Texts are compared in one way: no module outside of `runs/text` folds them by itself."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMPARES_NO_TEXTS = {
    "pevsite/client/terminal.py": "words that stand for a decision",
    "runs/documents/attachments.py": "names of files that clash",
    "runs/documents/formats/docx/numbering.py": "names of lists",
    "runs/documents/formats/docx/crossreferences.py": "numbers of clauses",
    "runs/documents/formats/pdf/unnamed.py": "letters that OCR reads",
    "runs/documents/formats/rtf/rtf_reader.py": "names of fonts",
    "runs/documents/reading/fields.py": "names of fonts",
    "runs/management/questions.py": "letters that stand for a decision",
    "runs/documents/reading/package_parts.py": "names of parts of a package",
    "runs/documents/writers/comments.py": "names of parts of a package",
    "runs/documents/writers/xlsx.py": "a name that Excel keeps for itself",
    "runs/submission/run_templates.py": "names of templates",
    "runs/submission/supplied_uploads.py": "endings of names of files",
    "runs/evidence/citations/links.py": "labels of links, as CommonMark has it",
    "runs/pev/contracts.py": "a word that models are told to write",
    "runs/documents/model/clause_numbers.py": "numbers of clauses",
    "runs/documents/places/document.py": "anchors",
    "runs/pev/imports/step_forms.py": "paths, and names of kinds of checks",
    "runs/pev/plans/relaxing.py": "paths",
    "runs/rehearsal/findings.py": "words of its own patterns",
}


REPLACES_CHARACTERS = {
    "runs/documents/formats/docx/styles.py": "digits that Word raises or lowers",
    "runs/evidence/citations/notes.py": "raised digits of notes, and marks of Markdown",
}
_TYPOGRAPHIC = re.compile(r"[‘’“”„«»‐‑–—−\u00a0\u00ad\u200b]")


def folds(node: ast.AST) -> bool:
    """Whether it takes capitals away for a comparison, looks a normal form up, or writes quotation marks, dashes or
    spaces in one way.
    """
    match node:
        case ast.Call(
            func=ast.Attribute(attr="replace"), args=[ast.Constant(value=str(old)), ast.Constant(value=str())]
        ):
            return bool(_TYPOGRAPHIC.fullmatch(old))
        case ast.Call(func=ast.Attribute(attr="fromkeys"), args=[ast.Constant(value=str(old)), *_]):
            return bool(_TYPOGRAPHIC.search(old))
        case ast.Attribute(attr="casefold"):
            return True
        case ast.Attribute(value=ast.Name(id="unicodedata"), attr="normalize" | "is_normalized"):
            return True
    return False


def outside(expression: str) -> dict[str, str]:
    """The modules outside `runs/text` in which something matches, with their source."""
    paths = [*ROOT.glob("runs/**/*.py"), *ROOT.glob("pevsite/**/*.py")]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}
    return {
        name: text for name, text in texts.items() if not name.startswith("runs/text/") and re.search(expression, text)
    }


def test_texts_are_folded_in_one_place() -> None:
    may = outside(r"casefold|unicodedata|\.replace\(|fromkeys\(")
    assert {name for name, text in may.items() if any(map(folds, ast.walk(ast.parse(text))))} == set(COMPARES_NO_TEXTS)


def test_characters_are_replaced_by_tables_in_one_place() -> None:
    assert outside(r"(?<!bytes\.)maketrans\(").keys() == REPLACES_CHARACTERS.keys()


@pytest.mark.parametrize(
    "source",
    [
        "text.casefold()",
        "unicodedata.normalize('NFKC', text)",
        "text.replace('’', 'x')",
        "text.replace('\\u00ad', '')",
        "text.replace('\\u00a0', ' ')",
        "dict.fromkeys('“”', 'x')",
    ],
)
def test_foldings_are_found(source: str) -> None:
    assert any(map(folds, ast.walk(ast.parse(source))))


@pytest.mark.parametrize("source", ["text.replace('\\r\\n', '\\n')", "text.lower()", "dict.fromkeys(names, 1)"])
def test_other_calls_are_no_foldings(source: str) -> None:
    assert not any(map(folds, ast.walk(ast.parse(source))))
