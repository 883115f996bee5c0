"""Texts are compared in one way: no module outside of `runs/text` folds them by itself."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3]
COMPARES_NO_TEXTS = {
    "runs/documents/attachments.py": "names of files that clash",
    "runs/documents/readers/docx/listnum.py": "names of lists",
    "runs/documents/readers/docx/crossreferences.py": "numbers of clauses",
    "runs/documents/readers/docx/numbering.py": "names of lists",
    "runs/documents/readers/pdf/unnamed.py": "letters that OCR reads",
    "runs/documents/readers/rtf/words.py": "names of fonts",
    "runs/documents/readers/symbols.py": "names of fonts",
    "runs/management/terminal_answers.py": "letters that stand for a decision",
    "runs/documents/readers/parts.py": "names of parts of a package",
    "runs/documents/writers/comments.py": "names of parts of a package",
    "runs/documents/writers/xlsx.py": "a name that Excel keeps for itself",
    "runs/lifecycle/templates.py": "names of templates",
    "runs/pev/citations/links.py": "labels of links, as CommonMark has it",
    "runs/pev/contracts.py": "a word that models are told to write",
    "runs/pev/documents/document.py": "anchors",
    "runs/pev/files/inputs.py": "paths",
    "runs/pev/files/paths.py": "paths",
    "runs/pev/files/sensitive.py": "paths",
    "runs/pev/imports/step_forms.py": "paths, and names of kinds of checks",
    "runs/pev/plans/relaxing.py": "paths",
    "runs/rehearsal/findings.py": "words of its own patterns",
}


def folds(node: ast.AST) -> bool:
    """Whether it takes capitals away for a comparison, or looks a normal form up."""
    match node:
        case ast.Attribute(attr="casefold"):
            return True
        case ast.Attribute(value=ast.Name(id="unicodedata"), attr="normalize" | "is_normalized"):
            return True
    return False


def test_texts_are_folded_in_one_place() -> None:
    paths = [*ROOT.glob("runs/**/*.py"), *ROOT.glob("pevsite/**/*.py")]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}
    may = {name: text for name, text in texts.items() if "casefold" in text or "unicodedata" in text}
    found = {name for name, text in may.items() if any(map(folds, ast.walk(ast.parse(text))))}
    assert {name for name in found if not name.startswith("runs/text/")} == set(COMPARES_NO_TEXTS)
