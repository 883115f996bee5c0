"""Numbers and CSV files of documents are read in one place, so that no check, page or report reads them otherwise."""

import ast
import re
from collections.abc import Iterator

import pytest
import regex

from tests.hostile.expressions import kept
from tests.installation import ROOT

CSV_HOME = "runs/text/csv_tables.py"
CSV_WRITERS = {"runs/rehearsal/review_files.py", "runs/planted_faults/jobs.py", "runs/readmodel/audit_lines.py"}
NUMBER_HOMES = ("runs/text/numbers.py", "runs/text/numerals.py", "runs/text/quantities.py")
NOT_OF_DOCUMENTS = {
    "runs/documents/formats/pdf/characters.py: _WORD_WITH_DIGITS": "words with a digit, maybe a mark",
    "runs/documents/formats/xlsx/number_formats.py: _SKELETON": "the code of a number format",
    "runs/documents/formats/xlsx/number_formats.py: _LITERAL": "the code of a number format",
    "runs/documents/writers/xlsx.py: _NUMBER": "what a spreadsheet shows as it was written",
    "runs/evidence/citations/citation_reader.py: _EACH": "the number of a clause",
    "runs/pev/tools/find_files.py: _NUMBER": "the number of a clause",
    "runs/text/domains.py: _NAME": "the name of a domain",
    "runs/evidence/source_names.py: _PATH": "the path of a file",
    "runs/pev/verification/grounding.py: _PATH": "the path of a file",
    "runs/mcp_client/mcp_answers.py: _ARGUMENT": "the name of an argument of a tool",
    "runs/documents/formats/eml/mails.py: _WORD": "a word of a mail, numbers included",
    "runs/readmodel/csv_formulas.py: _NUMBER": "what a spreadsheet does not compute",
}
NUMBERS = (
    ("1,234.50", "98,765.43"),
    ("$1,234.50", "$98,765.43"),
    ("1.234,50 EUR", "98.765,43 EUR"),
    ("-1,234.50", "-98,765.43"),
    ("1234.5", "7.25"),
)


def sources(word: str) -> Iterator[tuple[str, ast.Module]]:
    """Those with this word: to parse all of them takes seconds."""
    for folder in ("pevsite", "runs"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if word in (text := path.read_text()):
                yield str(path.relative_to(ROOT)), ast.parse(text)


def imports_csv(tree: ast.Module) -> bool:
    return any(
        (isinstance(node, ast.Import) and any(one.name == "csv" for one in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "csv")
        for node in ast.walk(tree)
    )


def reads_csv(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Attribute | ast.Name | ast.alias)
        and getattr(node, "attr", getattr(node, "id", getattr(node, "name", ""))) in {"DictReader", "Sniffer"}
        for node in ast.walk(tree)
    ) or any(
        isinstance(node, ast.Attribute) and node.attr == "reader" and ast.unparse(node.value) == "csv"
        for node in ast.walk(tree)
    )


@pytest.mark.slow
def test_csv_files_are_read_in_one_module() -> None:
    using = {name: tree for name, tree in sources("csv") if imports_csv(tree)}
    assert set(using) == {CSV_HOME, *CSV_WRITERS}
    assert [name for name, tree in using.items() if reads_csv(tree)] == [CSV_HOME]


def covers(expression: re.Pattern[str] | regex.Pattern[str], text: str) -> bool:
    try:
        found = expression.search(text)
    except TypeError:  # of bytes
        return False
    return found is not None and found[0].strip() == text


@pytest.mark.slow
def test_numbers_of_documents_are_read_in_one_place() -> None:
    found = {
        place
        for place, expression, _ in kept()
        if any(all(covers(expression, number) for number in each) for each in NUMBERS)
        and not covers(expression, "x,yzw.vu")
    }
    others = {place for place in found if not place.startswith(NUMBER_HOMES)}
    assert others == set(NOT_OF_DOCUMENTS), "read it with runs.text.numbers, or say why it is no number of a document"
