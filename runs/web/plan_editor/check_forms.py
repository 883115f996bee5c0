"""The forms of checks: one for each kind, so that nobody has to write one as code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from django import forms

from runs.web.site.posted_fields import Text

_LINES = {"rows": 3}
_OF = [
    ("rows", "rows of CSV files, without their header"),
    ("lines", "lines that are not blank"),
    ("matches", "matches of the pattern"),
    ("sum", "the sum of the column"),
    ("files", "files"),
]


def _field(label: str, hint: str = "", *, lines: bool = False, number: bool = False) -> Text:
    """A field that is judged with the plan, not by itself: what cannot be used is said at it."""
    attrs = {"inputmode": "numeric"} if number else {}
    widget = forms.Textarea(attrs=_LINES) if lines else forms.TextInput(attrs=attrs)
    return Text(label=label, help_text=hint, required=False, strip=False, widget=widget)


_PATH = "The path as the step writes it, such as review/findings.md"


class CheckForm(forms.Form):
    """`title` completes “The criterion is met when …”."""

    title: ClassVar[str]
    path = _field("File", _PATH)


class FileExistsForm(CheckForm):
    title = "a file exists"


class MinBytesForm(CheckForm):
    title = "a file has a minimum size"
    min = _field("At least so many bytes", number=True)


class ContainsForm(CheckForm):
    title = "a file contains certain words"
    text = _field("The words", "White space may differ, everything else counts")


class MatchesForm(CheckForm):
    title = "a pattern occurs in a file"
    pattern = _field("Pattern", "A regular expression without look-around, such as ^## Point \\d+")
    min = _field("At least so many times", "1, if left empty", number=True)
    comments = forms.BooleanField(label="In comments on a document only", required=False)


class WordCountForm(CheckForm):
    title = "a file has so many words"
    min = _field("At least", number=True)
    max = _field("At most", "No limit, if left empty", number=True)


class JsonValidForm(CheckForm):
    title = "a file is valid JSON"


class JsonSchemaForm(CheckForm):
    title = "a JSON file fits a JSON Schema"
    schema_text = _field("JSON Schema", lines=True)


class CsvColumnsForm(CheckForm):
    title = "a CSV file has certain columns"
    columns = _field("Columns", "One a line", lines=True)


class NoPlaceholdersForm(CheckForm):
    title = "a file has no placeholders (TODO, TBD, …)"


class DiagramsForm(CheckForm):
    title = "every Mermaid diagram of a file can be drawn"
    min = _field("At least so many diagrams", "1, if left empty", number=True)


class CitationsForm(CheckForm):
    title = "every citation of a file leads to what it quotes"
    min = _field("At least so many citations", "1, if left empty", number=True)


class QuotesOccurForm(CheckForm):
    title = "every quoted passage stands in the source named beside it"
    column = _field("Column with the quotes", "For a CSV file only")
    source_column = _field("Column with their sources", "For a CSV file only")


class CoversForm(CheckForm):
    title = "each item of a list is dealt with"
    items = _field("Items", "One a line", lines=True)
    files = _field("And each of your files that match", "Such as contracts/*.md")  # type: ignore[assignment]  # no upload
    source = _field("And each line of this file", "Or each value of a column of it")
    column = _field("Column of that file", "For a CSV file")
    in_column = _field("Named in this column of the result", "For a CSV file")


class AbsentForm(CheckForm):
    title = "terms occur nowhere in files that were read whole"
    path = _field("Your files", "A path or pattern, such as contracts/*.md")
    terms = _field("Terms", "One a line; capitals do not count", lines=True)


class CommandForm(CheckForm):
    title = "a command of the administrator succeeds"
    path = None  # type: ignore[assignment]  # all files are there
    command = _field("Command", "Its name")


class CountForm(CheckForm):
    title = "a figure is what counting comes to"
    figure = _field("Pattern around the figure", "With one group around the number: (\\d+) duplicates")


class TermForm(forms.Form):
    """One term of a count. A row without a path is none."""

    of = forms.ChoiceField(label="Count", choices=_OF, required=False)
    path = _field("In", "A path or pattern; @result/ before it means what the run wrote")
    column = _field("Column", "For a sum")
    pattern = _field("Pattern", "For matches")
    minus = forms.BooleanField(label="Take it away", required=False)


FORMS: Mapping[str, type[CheckForm]] = {
    "file_exists": FileExistsForm,
    "contains": ContainsForm,
    "matches": MatchesForm,
    "word_count": WordCountForm,
    "min_bytes": MinBytesForm,
    "no_placeholders": NoPlaceholdersForm,
    "diagrams": DiagramsForm,
    "json_valid": JsonValidForm,
    "json_schema": JsonSchemaForm,
    "csv_columns": CsvColumnsForm,
    "citations": CitationsForm,
    "quotes_occur": QuotesOccurForm,
    "covers": CoversForm,
    "count": CountForm,
    "absent": AbsentForm,
    "command": CommandForm,
}
"""By the kind of the check, in the order in which they are offered."""
KINDS = [
    ("", "AI review: a model judges it with quotes"),
    *((kind, f"Automatic: {one.title}") for kind, one in FORMS.items()),
]
