"""The checks that decide a criterion without a model (rule T2). Whatever goes wrong means: not held."""

import csv
import hashlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

import regex
from pydantic import JsonValue

from runs.errors import InvalidInput
from runs.pev.contracts import (
    Check,
    Contains,
    CsvColumns,
    FileExists,
    JsonSchema,
    JsonValid,
    Matches,
    MinBytes,
    NoPlaceholders,
    WordCount,
)
from runs.pev.evidence import find, quoted
from runs.pev.paths import clean_path, text_of
from runs.pev.patterns import SECONDS, Budget, compiled, found, places
from runs.pev.results import Evidence
from runs.pev.schemas import parsed, problem_with_value, read_schema

LISTED_LINES = 10
"""Of what a check found: enough to see what is meant, and a critique stays short."""
MAX_JSON_CHARACTERS = 5_000_000
"""As much as a step may write into one file. Read as JSON it takes up to 70 times as much memory."""
MAX_HEADER_CHARACTERS = 1_000_000
"""Of a CSV file, in which its header has to stand."""
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


@dataclass(frozen=True)
class _Found:
    """What came out, the sentence after the file's name, and where to look (as in Evidence)."""

    held: bool
    sentence: str
    line: int = 0
    start: int = 0
    end: int = 0


def run_check(check: Check, files: Mapping[str, bytes], seconds: float = SECONDS) -> Evidence:
    """The result of the check with its figures; `verified` says whether it held. Never raises for bad input.

    Only the file named is read. `line`, `start` and `end` point at the first place worth looking at, where
    there is one. A missing file, a file that is not text, a bad pattern or schema, or one that takes more
    than `seconds` means that the check does not hold.
    """
    try:
        path = clean_path(check.path)
    except InvalidInput as error:
        return _evidence(check.path, None, _Found(False, str(error)))
    data = files.get(path)
    if data is None:
        return _evidence(path, None, _Found(False, f"{path} does not exist"))
    try:
        found = _examined(check, data, Budget(seconds))
    except InvalidInput as error:
        found = _Found(False, str(error))
    return _evidence(path, data, _Found(found.held, f"{path} {found.sentence}", found.line, found.start, found.end))


def problem_with(check: Check) -> str | None:
    """Why a plan must not contain this check (its author can fix it), or None."""
    try:
        clean_path(check.path)
        match check:
            case Matches():
                return _problem_with_pattern(check.pattern)
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


def _examined(check: Check, data: bytes, budget: Budget) -> _Found:
    match check:
        case FileExists():
            return _Found(True, f"exists ({_many(len(data), 'byte')})")
        case MinBytes():
            return _Found(len(data) >= check.min, f"has {_many(len(data), 'byte')}, wanted at least {check.min:,}")
        case Contains():
            return _contains(check, _text(data))
        case Matches():
            return _matches(check, _text(data), budget)
        case WordCount():
            return _word_count(check, _text(data))
        case JsonValid():
            _json(_text(data))
            return _Found(True, "is valid JSON")
        case JsonSchema():
            return _json_schema(check, _text(data), budget)
        case CsvColumns():
            return _csv_columns(check, _text(data))
        case NoPlaceholders():
            return _no_placeholders(_text(data))
        case _:
            assert_never(check)


def _contains(check: Contains, text: str) -> _Found:
    span = find(check.text, text)
    if span is None:
        return _Found(False, f"does not contain {quoted(check.text)}")
    sentence = f"contains {quoted(check.text)}, line {span.line}"
    return _Found(True, sentence, span.line, span.start, span.end)


def _matches(check: Matches, text: str, budget: Budget) -> _Found:
    try:
        pattern = compiled(check.pattern, multiline=True)
        text = text.replace("\r\n", "\n")
        count, lines = _lines_of(places(pattern, text, budget, limit=max(check.min, COUNTED_MATCHES)), text)
    except InvalidInput as error:
        raise InvalidInput(f"was not searched for {quoted(check.pattern)}: {error}") from error
    sentence = f"matches {count:,} of at least {check.min:,}"
    if lines:
        dots = ", …" if len(lines) > LISTED_LINES else ""
        listed = ", ".join(map(str, lines[:LISTED_LINES]))
        sentence += f": {'lines' if len(lines) > 1 else 'line'} {listed}{dots}"
    return _Found(count >= check.min, sentence, lines[0] if lines else 0)


def _lines_of(starts: Iterator[int], text: str) -> tuple[int, list[int]]:
    """How many there are, and the first of the lines in which they begin, each once."""
    count, line, counted, lines = 0, 1, 0, dict[int, None]()
    for start in starts:
        count += 1
        line += text.count("\n", counted, start)
        counted = start
        if len(lines) <= LISTED_LINES:
            lines[line] = None
    return count, list(lines)


def _word_count(check: WordCount, text: str) -> _Found:
    count = count_words(text)
    wanted = f"{check.min:,} to {check.max:,}" if check.max < 1_000_000 else f"at least {check.min:,}"
    return _Found(check.min <= count <= check.max, f"has {_many(count, 'word')}, wanted {wanted}")


def count_words(text: str) -> int:
    """Runs without spaces that have a letter or digit; each ideograph is a word of its own."""
    pieces = regex.finditer(rf"[{_IDEOGRAPHS}]|[^\s{_IDEOGRAPHS}]+", text)
    return sum(1 for piece in pieces if any(map(str.isalnum, piece[0])))


def _json_schema(check: JsonSchema, text: str, budget: Budget) -> _Found:
    value = _json(text)
    try:
        problem = problem_with_value(value, read_schema(check.schema_text), budget)
    except InvalidInput as error:
        raise InvalidInput(f"was not compared with the schema: {error}") from error
    return _Found(problem is None, f"breaks the schema: {problem}" if problem else "follows the schema")


def _csv_columns(check: CsvColumns, text: str) -> _Found:
    headers = [_header(text, delimiter) for delimiter in ",;\t"]
    header = max(headers, key=lambda names: (len(set(names) & set(check.columns)), len(names)))
    lacking = [name for name in check.columns if name not in header]
    if not header:
        return _Found(False, "has no header row")
    named = ", ".join(name[:80] for name in header[:20]) + (", …" if len(header) > 20 else "")
    if not lacking:
        return _Found(True, f"has all {_many(len(check.columns), 'column')} wanted; it has {named}", 1)
    columns = "column" if len(lacking) == 1 else "columns"
    return _Found(False, f"lacks the {columns} {', '.join(map(quoted, lacking))}; it has {named}", 1)


def _header(text: str, delimiter: str) -> list[str]:
    """The trimmed names in the first row that is not empty; none when there is no such row."""
    try:
        for row in csv.reader(io.StringIO(text[:MAX_HEADER_CHARACTERS], newline=""), delimiter=delimiter):
            if any(name.strip() for name in row):
                return [name.strip() for name in row]
    except csv.Error:
        return []
    return []


def _no_placeholders(text: str) -> _Found:
    match = _PLACEHOLDERS.search(text)
    if match is None:
        return _Found(True, "has no placeholders")
    line = text.count("\n", 0, match.start()) + 1
    sentence = f"still has a placeholder: {quoted(match[0])}, line {line}"
    return _Found(False, sentence, line, match.start(), match.end())


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


def _problem_with_pattern(pattern: str) -> str | None:
    try:
        nothing = found(compiled(pattern, multiline=True), "", Budget(SECONDS))
    except InvalidInput as error:
        return f"The pattern {quoted(pattern)} cannot be used: {error}."
    return f"The pattern {quoted(pattern)} matches an empty file too, so it proves nothing." if nothing else None


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _evidence(path: str, data: bytes | None, found: _Found) -> Evidence:
    return Evidence(
        kind="check",
        source=path,
        verified=found.held,
        sentence=found.sentence,
        sha256="" if data is None else hashlib.sha256(data).hexdigest(),
        start=found.start,
        end=found.end,
        line=found.line,
    )
