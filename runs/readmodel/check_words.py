"""What checks look for, in words."""

from typing import assert_never

from runs.lifecycle.toolset import command_lines
from runs.pev.contracts import (
    Absent,
    Check,
    Citations,
    CommandSucceeds,
    Comparison,
    Contains,
    Count,
    Covers,
    CsvColumns,
    Diagrams,
    FileExists,
    JsonSchema,
    JsonValid,
    Matches,
    MinBytes,
    NoPlaceholders,
    QuotesOccur,
    Term,
    WordCount,
)
from runs.text.plural import pluralize, word_for


def check_in_words(check: Check) -> str:
    """What a check looks for, as a clause."""
    match check:
        case FileExists():
            return f"{check.path} exists"
        case MinBytes():
            return f"{check.path} has at least {pluralize(check.min, 'byte')}"
        case Contains():
            return f"{check.path} contains “{check.text}”"
        case Matches():
            passages = "a passage" if check.min == 1 else f"at least {pluralize(check.min, 'passage')}"
            within = " in its comments" if check.comments else ""
            return f"{check.path} has {passages} of the form {check.pattern}{within}"
        case WordCount():
            most = f" and at most {check.max:,}" if check.max < 1_000_000 else ""
            return f"{check.path} has at least {check.min:,}{most} words"
        case JsonValid():
            return f"{check.path} is valid JSON"
        case JsonSchema():
            return f"{check.path} is JSON of the agreed shape"
        case CsvColumns():
            return f"{check.path} has the columns {', '.join(check.columns)}"
        case NoPlaceholders():
            return f"{check.path} has no placeholders"
        case Diagrams():
            least = f", at least {check.min:,} of them" if check.min > 1 else ""
            return f"each Mermaid diagram of {check.path} can be drawn{least}"
        case Citations() | QuotesOccur() | Covers() | Count() | Absent():
            return _comparison_in_words(check)
        case CommandSucceeds():
            line = command_lines().get(check.command, "which this installation does not have")
            return f"the command {check.command} ({line}) succeeds"
        case _:
            assert_never(check)


def _comparison_in_words(check: Comparison) -> str:
    match check:
        case Citations():
            least = f", at least {check.min:,} of them" if check.min > 1 else ""
            return f"each citation of {check.path} leads to what it quotes{least}"
        case QuotesOccur():
            if check.column:
                return (
                    f"each value of the column {check.column} of {check.path} stands word for word in the source that "
                    f"its column {check.source_column} names"
                )
            return f"each quoted passage of {check.path} stands word for word in the source named beside it"
        case Covers():
            place = f"the column {check.in_column} of {check.path}" if check.in_column else check.path
            return f"{place} deals with each of {_items(check)}"
        case Count():
            return f"the number in {check.path} that matches {check.figure} is {_terms(check.terms)}"
        case Absent():
            terms = ", ".join(f"“{term}”" for term in check.terms)
            return f"{terms} {word_for(len(check.terms), 'occurs', 'occur')} nowhere in {check.path}, read whole"
        case _:
            assert_never(check)


def _items(check: Covers) -> str:
    parts = [f"the given files {check.files}"] if check.files else []
    if check.source:
        parts.append(f"the values of the column {check.column} of {check.source}" if check.column else check.source)
    parts += [", ".join(f"“{item}”" for item in check.items)] if check.items else []
    return ", and of ".join(parts)


def _terms(terms: list[Term]) -> str:
    words = ""
    for term in terms:
        sign = " minus " if term.minus else " plus "
        words += f"{sign if words or term.minus else ''}{_term(term)}"
    return words.strip()


def _term(term: Term) -> str:
    result = term.path.removeprefix("@result/")
    path = f"{result} as the run has left it" if result != term.path else term.path
    match term.of:
        case "rows":
            return f"the number of rows of {path}"
        case "lines":
            return f"the number of lines of {path}"
        case "matches":
            return f"the number of matches of {term.pattern} in {path}"
        case "sum":
            return f"the sum of the column {term.column} of {path}"
        case "files":
            return f"the number of files {path}"
