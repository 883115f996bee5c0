"""Checks, done again in the plainest way. Kinds that no case uses are an error."""

from __future__ import annotations

import csv
import fnmatch
import io
import re
from collections.abc import Iterable
from urllib.parse import unquote

from tests.integration.adversarial.rawsources import Row, Sources, folded

COMPARING = {"quotes_occur", "covers", "count", "absent", "citations"}
_PASSAGE = re.compile(r"“([^”]{12,})”|\"([^\"\n]{12,})\"|^> (.+)$", re.MULTILINE)
_CITATION = re.compile(r"\[[“\"]([^\]]*)[”\"]\]\(<?([^)>]*)>?\)")


def topic_of(criterion: Row) -> str:
    """What a criterion is about; where it does not say it, what its check reads."""
    check = criterion["check"]
    return str(criterion["about"] or ("output" if check and check["kind"] not in COMPARING else "sources"))


def holds(check: Row, sources: Sources) -> bool:
    match check["kind"]:
        case "absent":
            return is_absent(check, sources)
        case "count":
            return counted(check, sources)
    data, text = sources.data(made(check)), sources.text(made(check))
    if data is None or text is None:
        return False
    match check["kind"]:
        case "quotes_occur":
            return not wrong_quotes(check, text, sources)
        case "covers":
            return not left_out(check, text, sources)
        case "citations":
            return not broken_citations(text, sources) and len(_CITATION.findall(text)) >= int(check["min"])
    return looks_right(check, data, text)


def looks_right(check: Row, data: bytes, text: str) -> bool:
    """A check that compares with nothing."""
    match check["kind"]:
        case "file_exists":
            return True
        case "min_bytes":
            return len(data) >= int(check["min"])
        case "contains":
            return folded(check["text"]) in folded(text)
        case "no_placeholders":
            return not re.search(r"TODO|TBD|FIXME|lorem ipsum", text, re.IGNORECASE)
        case "matches":
            return len(re.findall(check["pattern"], text, re.MULTILINE)) >= int(check["min"])
        case "word_count":
            return int(check["min"]) <= len(text.split()) <= int(check["max"])
        case "csv_columns":
            return set(check["columns"]) <= set(next(csv.reader(io.StringIO(text))))
        case "diagrams":  # those of the tests: flowcharts, all of whose brackets are closed
            found = re.findall(r"^```mermaid\n(flowchart .*?)^```$", text, re.MULTILINE | re.DOTALL)
            return len(found) >= int(check["min"]) and all(one.count("[") == one.count("]") for one in found)
        case kind:
            raise AssertionError(f"no second opinion on {kind}")


def made(check: Row) -> str:
    """The name of what a check looks at: what the run has left there."""
    return f"@result/{check['path'].removeprefix('@result/')}"


def rests_outside(check: Row, sources: Sources) -> bool:
    """Whether a check that holds has compared the result with a file that was given."""
    text = sources.text(made(check)) or ""
    match check["kind"]:
        case "absent":
            return True
        case "quotes_occur":
            return any(path in text for path in sources.given)
        case "citations":
            return any(target in sources.given for _, target in cited_in(text))
        case "covers":
            return bool(check["files"]) or check["source"] in sources.given
        case "count":
            return any(matching(term["path"], sources.given) for term in check["terms"])
        case _:
            return False


def is_absent(check: Row, sources: Sources) -> bool:
    paths = matching(check["path"], sources.given)
    texts = [(sources.text(path) or "").casefold() for path in paths]
    return (
        bool(paths)
        and set(paths) <= set(sources.read)
        and not any(t.casefold() in x for t in check["terms"] for x in texts)
    )


def counted(check: Row, sources: Sources) -> bool:
    text = sources.text(made(check)) or ""
    figures = {int(re.sub(r"\D", "", figure)) for figure in re.findall(check["figure"], text, re.MULTILINE)}
    return figures == {sum(amount(term, sources) * (-1 if term["minus"] else 1) for term in check["terms"])}


def amount(term: Row, sources: Sources) -> int:
    pattern = term["path"]
    if pattern.startswith("@result/"):
        names = [f"@result/{path}" for path in matching(pattern.removeprefix("@result/"), sources.files)]
    else:
        names = matching(pattern, sources.given) or matching(pattern, sources.files)
    texts = [sources.text(name) or "" for name in names]
    match term["of"]:
        case "files":
            return len(names)
        case "lines":
            return sum(bool(line.strip()) for text in texts for line in text.splitlines())
        case "rows":
            return sum(len(list(csv.DictReader(io.StringIO(text)))) for text in texts)
        case "matches":
            return sum(len(re.findall(term["pattern"], text, re.MULTILINE)) for text in texts)
        case "sum":
            rows = (row for text in texts for row in csv.DictReader(io.StringIO(text)))
            return sum(int(row[term["column"]]) for row in rows)
        case of:
            raise AssertionError(f"no second opinion on {of}")


def wrong_quotes(check: Row, text: str, sources: Sources) -> list[str]:
    """Passages that stand in none of the sources beside them; all of it, where nothing is quoted."""
    if check["column"]:
        rows = list(csv.DictReader(io.StringIO(text)))
        quotes = [(row[check["column"]], [row[check["source_column"]]]) for row in rows]
    else:
        named = [path for path in (*sources.given, *sources.files) if path in text]
        quotes = [("".join(found), named) for found in _PASSAGE.findall(text)]
    wrong = [quote for quote, names in quotes if not any(occurs(quote, name, sources) for name in names)]
    return wrong if quotes else [text]


def occurs(quote: str, name: str, sources: Sources) -> bool:
    return folded(quote) in folded(sources.text(name) or "")


def left_out(check: Row, text: str, sources: Sources) -> list[str]:
    items = [*check["items"], *(matching(check["files"], sources.given) if check["files"] else [])]
    if check["source"]:
        source = sources.text(check["source"]) or ""
        rows = csv.DictReader(io.StringIO(source))
        items += [row[check["column"]] for row in rows] if check["column"] else filter(str.strip, source.splitlines())
    where = text
    if check["in_column"]:
        where = "\n".join(row[check["in_column"]] for row in csv.DictReader(io.StringIO(text)))
    return [item for item in items if folded(item).casefold() not in folded(where).casefold()]


def matching(pattern: str, paths: Iterable[str]) -> list[str]:
    wanted = f"{pattern}*" if pattern.endswith("/") else pattern
    return sorted(path for path in paths if path == pattern or fnmatch.fnmatchcase(path, wanted))


def cited_in(text: str) -> list[tuple[str, str]]:
    """The quote and the file of each citation."""
    return [(quote, unquote(target.partition("#")[0])) for quote, target in _CITATION.findall(text)]


def broken_citations(text: str, sources: Sources) -> list[str]:
    """Those whose words are not in the file that they name: a line is corrected, a file is not."""
    return [quote for quote, path in cited_in(text) if not path or not occurs(quote, path, sources)]
