"""The checks that decide a criterion without a model (rule T2). Whatever goes wrong means: not held."""

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

import regex
from pydantic import JsonValue

from runs.contracts.base import COMMAND, RESULT
from runs.documents.content import digest_of, document_of, text_of
from runs.documents.model.views import comments_in
from runs.enums import Provenance
from runs.errors import InvalidInput
from runs.evidence.finding import find, find_in_words
from runs.evidence.results import Evidence
from runs.pev.checks.comparing import compared
from runs.pev.checks.material import LISTED, CheckInput, CheckResult
from runs.pev.checks.problems import problem_with_comparison, problem_with_pattern
from runs.pev.checks.tables import Table, in_short
from runs.pev.contracts import (
    Absent,
    Check,
    ChecksFiles,
    Citations,
    CommandSucceeds,
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
    WordCount,
)
from runs.text.json_schemas import parsed, problem_with_value, read_schema
from runs.text.mermaid_diagrams import drawn
from runs.text.normalisation import Markup, markup_of
from runs.text.paths import clean_path
from runs.text.patterns import SECONDS, Budget, compiled, places
from runs.text.plural import pluralize, word_for
from runs.text.truncate import quoted

COMPARING_SECONDS = 10.0
"""For one check that compares with sources: a list of a million rows takes two."""
DRAWING_SECONDS = 15.0
"""For the diagrams of one file: each takes a third of a second."""
MAX_JSON_CHARACTERS = 5_000_000
"""As much as a step may write into one file. Read as JSON it takes up to 70 times as much memory."""
SHOWN_LINES, SHOWN_CHARS = 10, 1_000
"""Of the end of what a command printed, as evidence and as feedback."""
COUNTED_MATCHES = 1_000
"""Matches are counted up to this number, or up to `min` if that is more."""

_PLACEHOLDERS = regex.compile(
    r"(?<![\w-])(?:TODO|TBD|FIXME|XXX)(?![\w-])"
    r"|(?i:\blorem\s+ipsum\b)"
    r"|(?i:\[insert\b[^\]\n]{0,100}\])"
    r"|(?i:<placeholder>)"
    r"|\{\{[^{}\n]{0,100}\}\}"
    r"|(?i:\bcoming\s+soon\b)"
)
_IDEOGRAPHS = r"\p{Han}\p{Hiragana}\p{Katakana}"


def run_check(check: Check, material: CheckInput, seconds: float | None = None) -> Evidence:
    """The result of the check with its figures; `verified` says whether it held. Never raises for bad input.

    Only the files named are read. `line`, `start` and `end` point at the first place worth looking at, where there is
    one. A missing file, a command that `material` cannot run, a file that is not text, a bad pattern or schema, or one
    that takes more than `seconds` (as `seconds_for` says, unless told) means that the check does not hold.
    """
    if isinstance(check, CommandSucceeds):
        return _after_command(check, material)
    budget = Budget(seconds_for(check) if seconds is None else seconds)
    try:
        if isinstance(check, Absent):
            found = compared(check, "", material, budget)
            return _evidence(found.source, material.given[found.source], found)
        path = clean_path(check.path.removeprefix(RESULT))
    except InvalidInput as error:
        return _evidence(check.path, None, CheckResult(False, str(error)))
    data = material.files.get(path)
    if data is None:
        return _evidence(path, None, CheckResult(False, f"{path} does not exist"))
    try:
        found = _examined(check, data, material, budget)
    except InvalidInput as error:
        found = CheckResult(False, str(error))
    return _evidence(path, data, replace(found, sentence=f"{path} {found.sentence}"))


def seconds_for(check: Check) -> float:
    """What a check may take: those that compare read many files."""
    if isinstance(check, Diagrams):
        return DRAWING_SECONDS
    return COMPARING_SECONDS if isinstance(check, Citations | QuotesOccur | Covers | Count | Absent) else SECONDS


def problem_with(check: Check) -> str | None:
    """Why a plan must not contain this check (its author can fix it), or None. Its command may not exist."""
    try:
        if not isinstance(check, Absent | CommandSucceeds):
            clean_path(check.path.removeprefix(RESULT))
        match check:
            case Matches():
                return problem_with_pattern(check.pattern)
            case Citations() | QuotesOccur() | Covers() | Count() | Absent():
                return problem_with_comparison(check)
            case JsonSchema():
                return _problem_with_schema(check.schema_text)
            case WordCount() if check.min > check.max:
                return f"min ({check.min}) is more than max ({check.max}); no text can have so many words."
            case CsvColumns() if repeated := [name for name in check.columns if check.columns.count(name) > 1]:
                return f"The column {quoted(repeated[0])} is named twice."
            case _:
                pass
    except InvalidInput as error:
        return str(error)
    return None


def _after_command(check: CommandSucceeds, material: CheckInput) -> Evidence:
    """Held if it succeeds. The end of what it printed, where test runners sum up, is the evidence; all of it is kept as
    a text under the name of the source.
    """
    if material.command is None:
        refused = CheckResult(False, f"{check.command} was not run: no commands are run here")
        return _evidence(COMMAND + check.command, None, refused)
    result = material.command(check.command)
    sentence, _, printed = result.text.partition("\n")
    lines = [line for line in printed.splitlines() if line.strip()]
    quote = "\n".join(lines[-SHOWN_LINES:])[-SHOWN_CHARS:]
    found = CheckResult(not result.is_error, sentence.removesuffix("."), quote=quote)
    return _evidence(COMMAND + check.command, result.text.encode(), found)


def _examined(check: ChecksFiles, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
    match check:
        case FileExists():
            return CheckResult(True, f"exists ({pluralize(len(data), 'byte')})")
        case MinBytes():
            return CheckResult(
                len(data) >= check.min, f"has {pluralize(len(data), 'byte')}, wanted at least {check.min:,}"
            )
        case Contains():
            return _contains(check, _text(data), markup_of(check.path))
        case Matches():
            return _matches(check, data, budget)
        case WordCount():
            return _word_count(check, _text(data))
        case JsonValid():
            _json(_text(data))
            return CheckResult(True, "is valid JSON")
        case JsonSchema():
            return _json_schema(check, _text(data), budget)
        case CsvColumns():
            return _csv_columns(check, _text(data))
        case NoPlaceholders():
            return _no_placeholders(_text(data))
        case Diagrams():
            return _diagrams(check, _text(data), budget)
        case Citations() | QuotesOccur() | Covers() | Count() | Absent():
            return compared(check, _text(data), material, budget)
        case _:
            assert_never(check)


def _contains(check: Contains, text: str, markup: Markup) -> CheckResult:
    span = find(check.text, text) or find_in_words(check.text, text, markup)
    if span is None:
        return CheckResult(False, f"does not contain {quoted(check.text)}")
    sentence = f"contains {quoted(check.text)}, line {span.line}"
    return CheckResult(True, sentence, span.line, span.start, span.end)


def _matches(check: Matches, data: bytes, budget: Budget) -> CheckResult:
    text = searched = _text(data).replace("\r\n", "\n")
    if check.comments:
        document = document_of(data)
        text, searched = (document.text, comments_in(document)) if document else ("", "")
    try:
        pattern = compiled(check.pattern, multiline=True)
        count, lines = _lines_of(places(pattern, searched, budget, limit=max(check.min, COUNTED_MATCHES)), text)
    except InvalidInput as error:
        raise InvalidInput(f"was not searched for {quoted(check.pattern)}: {error}") from error
    sentence = f"matches {count:,} of at least {check.min:,}{' in its comments' if check.comments else ''}"
    if lines:
        dots = ", …" if len(lines) > LISTED else ""
        listed = ", ".join(map(str, lines[:LISTED]))
        sentence += f": {word_for(len(lines), 'line')} {listed}{dots}"
    return CheckResult(count >= check.min, sentence, lines[0] if lines else 0)


def _lines_of(starts: Iterator[int], text: str) -> tuple[int, list[int]]:
    """How many there are, and the first of the lines in which they begin, each once."""
    count, line, counted, lines = 0, 1, 0, dict[int, None]()
    for start in starts:
        count += 1
        line += text.count("\n", counted, start)
        counted = start
        if len(lines) <= LISTED:
            lines[line] = None
    return count, list(lines)


def _word_count(check: WordCount, text: str) -> CheckResult:
    count = count_words(text)
    wanted = f"{check.min:,} to {check.max:,}" if check.max < 1_000_000 else f"at least {check.min:,}"
    return CheckResult(check.min <= count <= check.max, f"has {pluralize(count, 'word')}, wanted {wanted}")


def count_words(text: str) -> int:
    """Runs without spaces that have a letter or digit; each ideograph is a word of its own."""
    pieces = regex.finditer(rf"[{_IDEOGRAPHS}]|[^\s{_IDEOGRAPHS}]+", text)
    return sum(1 for piece in pieces if any(map(str.isalnum, piece[0])))


def _json_schema(check: JsonSchema, text: str, budget: Budget) -> CheckResult:
    value = _json(text)
    try:
        problem = problem_with_value(value, read_schema(check.schema_text), budget)
    except InvalidInput as error:
        raise InvalidInput(f"was not compared with the schema: {error}") from error
    return CheckResult(problem is None, f"breaks the schema: {problem}" if problem else "follows the schema")


def _csv_columns(check: CsvColumns, text: str) -> CheckResult:
    header = Table(text, check.columns).header
    lacking = [name for name in check.columns if name not in header]
    if not header:
        return CheckResult(False, "has no header row")
    named = in_short(header)
    if not lacking:
        return CheckResult(True, f"has all {pluralize(len(check.columns), 'column')} wanted; it has {named}", 1)
    columns = word_for(len(lacking), "column")
    return CheckResult(False, f"lacks the {columns} {', '.join(map(quoted, lacking))}; it has {named}", 1)


def _no_placeholders(text: str) -> CheckResult:
    match = _PLACEHOLDERS.search(text)
    if match is None:
        return CheckResult(True, "has no placeholders")
    line = text.count("\n", 0, match.start()) + 1
    sentence = f"still has a placeholder: {quoted(match[0])}, line {line}"
    return CheckResult(False, sentence, line, match.start(), match.end())


def _diagrams(check: Diagrams, text: str, budget: Budget) -> CheckResult:
    found = drawn(text, budget, whole=check.path.lower().endswith(".mmd"))
    wrong = next((one for one in found if one.problem), None)
    if wrong:
        return CheckResult(
            False, f"has a diagram in line {wrong.line} that cannot be drawn: {wrong.problem}", wrong.line
        )
    held = len(found) >= check.min
    sentence = f"has {pluralize(len(found), 'diagram')} that can be drawn, wanted at least {check.min:,}"
    return CheckResult(held, sentence, found[0].line if found else 0)


def _text(data: bytes) -> str:
    text = text_of(data)
    if text is None:
        raise InvalidInput("is not a text file")
    return text


def _json(text: str) -> JsonValue:
    if len(text) > MAX_JSON_CHARACTERS:
        raise InvalidInput(f"is not read as JSON: it has {len(text):,} characters and may have {MAX_JSON_CHARACTERS:,}")
    try:
        return parsed(text)
    except InvalidInput as error:
        raise InvalidInput(f"is not valid JSON: {error}") from error


def _problem_with_schema(text: str) -> str | None:
    try:
        read_schema(text)
    except InvalidInput as error:
        return f"The schema cannot be used: {error}."
    return None


def _provenance(found: CheckResult) -> Provenance:
    if found.outside:
        return Provenance.GIVEN
    return Provenance.OBSERVED if found.observed else Provenance.MADE


def _evidence(path: str, data: bytes | None, found: CheckResult) -> Evidence:
    return Evidence(
        kind="check",
        source=path,
        verified=found.held,
        sentence=found.sentence,
        sha256="" if data is None else digest_of(data),
        start=found.start,
        end=found.end,
        line=found.line,
        quote=found.quote,
        provenance=_provenance(found),
    )
