"""Why a plan must not contain a check that compares with sources: it could hold for nothing, or never."""

from collections.abc import Mapping
from typing import assert_never

from runs.contracts.base import RESULT
from runs.errors import InvalidInput
from runs.evidence.citations.citing import may_cite
from runs.evidence.quotes import MIN_CHARACTERS
from runs.evidence.source_names import worded
from runs.pev.checks.material import listed, matching
from runs.pev.contracts import Absent, Check, Citations, Comparison, Count, Covers, QuotesOccur, Term
from runs.pev.input_selection import selected
from runs.text.paths import clean_path
from runs.text.patterns import SECONDS, Budget, compiled, found
from runs.text.truncate import quoted

_NEEDS = {"sum": "column", "matches": "pattern"}


def problem_with_comparison(check: Comparison) -> str | None:
    """Why a plan must not contain this check, or None. Raises InvalidInput for a path that cannot be."""
    match check:
        case Citations():
            if not may_cite(check.path):
                return f"{quoted(check.path)} is no Markdown, Word or PDF file; only those have citations."
        case QuotesOccur():
            if bool(check.column) != bool(check.source_column):
                return "column and source_column go together: give both for a CSV file, and none for any other."
        case Covers():
            return _problem_with_items(check)
        case Count():
            return _problem_with_figure(check.figure) or next(filter(None, map(_problem_with_term, check.terms)), None)
        case Absent():
            _clean_pattern(check.path)
            short = [term for term in check.terms if sum(map(str.isalnum, term)) < MIN_CHARACTERS]
            return f"The term {quoted(short[0])} is too short to be looked for." if short else None
        case _:
            assert_never(check)
    return None


def problem_with_sources(check: Check, given: Mapping[str, object]) -> str | None:
    """Why a check of what the sources say would hold the result against what the run wrote itself, or None. `given`: by
    path, what was handed in.
    """
    match check:
        case Covers() if check.source and not check.files:
            sources = [check.source]
        case Count():
            sources = list(dict.fromkeys(term.path for term in check.terms))
        case _:
            return None
    if any(matching(source, given) for source in sources):
        return None
    return (
        f"It is about the sources, but no given file is {listed(sources)}, so it would compare the result with what "
        "the run wrote itself; compare it with a given file, or say that it is about the output."
    )


def problem_with_pattern(pattern: str) -> str | None:
    try:
        nothing = found(compiled(pattern, multiline=True), "", Budget(SECONDS))
    except InvalidInput as error:
        return f"The pattern {quoted(pattern)} cannot be used: {error}."
    return f"The pattern {quoted(pattern)} matches an empty file too, so it proves nothing." if nothing else None


def _problem_with_items(check: Covers) -> str | None:
    for pattern in filter(None, (check.source, check.files)):
        _clean_pattern(pattern)
    if not (check.items or check.source or check.files):
        return "It names no items: give items, a source or files."
    if check.source == check.path or check.source == RESULT + check.path.removeprefix(RESULT):
        hint = "" if RESULT in check.source else f"; {RESULT}{check.source} in `path` is what the run makes of it"
        return f"It compares {check.source} with itself{hint}."
    if check.column and not check.source:
        return "column is one of the file source, which is not given; the column of the result is in_column."
    if check.files.startswith(RESULT):
        return "files means the given files; leave @result/ out."
    unfit = [item for item in check.items if not worded(item)]
    return f"The item {quoted(unfit[0])} has no letter or digit to look for." if unfit else None


def _problem_with_figure(figure: str) -> str | None:
    problem = problem_with_pattern(figure)
    if problem is None and compiled(figure, multiline=True).engine.groups != 1:
        return f"The pattern {quoted(figure)} needs one group in round brackets, around the number: (\\d+) duplicates."
    return problem


def _problem_with_term(term: Term) -> str | None:
    _clean_pattern(term.path)
    needed = _NEEDS.get(term.of, "")
    if needed and not getattr(term, needed):
        return f"The term {term.of} of {term.path} needs a {needed}."
    unused = [name for name in ("column", "pattern") if name != needed and getattr(term, name)]
    if unused:
        return f"The term {term.of} of {term.path} takes no {unused[0]}; leave it empty."
    return problem_with_pattern(term.pattern) if term.pattern else None


def _clean_pattern(pattern: str) -> None:
    path = pattern.removeprefix(RESULT)
    clean_path(path.removesuffix("/"))
    selected([path], ())  # raises where it has too many wildcards to be followed
