"""Owns how the criteria of offline plans are judged: each by looking at the artefacts themselves."""

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from runs.llm.offline import wording as w
from runs.llm.offline.exhibits import Entry, Exhibit, Exhibits, entries

QUOTE_CHARS = 400
MAX_QUOTES = 6
MAX_COMPLAINTS = 12


@dataclass(frozen=True)
class Ruling:
    """`evidence`: source and verbatim quote. `complaints`: what is wrong, each with its place."""

    evidence: Sequence[tuple[str, str]] = ()
    complaints: Sequence[str] = ()
    confidence: float = 0.95

    @property
    def passed(self) -> bool:
        return not self.complaints and bool(self.evidence)

    @property
    def feedback(self) -> str:
        if self.passed:
            return ""
        listed = list(self.complaints[:MAX_COMPLAINTS]) or ["There is nothing to quote that would prove it."]
        more = len(self.complaints) - MAX_COMPLAINTS
        return " ".join([*listed, *([f"And {more} more of the kind."] if more > 0 else [])])


@dataclass
class _Tally:
    """Evidence and complaints while a file is gone through."""

    evidence: list[tuple[str, str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def quote(self, source: str, text: str) -> None:
        cut = " ".join(text.split())[:QUOTE_CHARS].strip()
        if sum(character.isalnum() for character in cut) >= 3 and len(self.evidence) < MAX_QUOTES:
            self.evidence.append((source, cut))

    def ruling(self) -> Ruling:
        return Ruling(self.evidence, self.complaints)


def ruling_on(criterion: str, shown: Exhibits) -> Ruling | None:
    """The judgement of a criterion of an offline plan, or None for any other wording."""
    for template, judge in _JUDGES.items():
        if match := w.pattern(template).fullmatch(criterion.strip()):
            return judge(shown, match.groupdict())
    return None


type _Blanks = dict[str, str]


def _written(shown: Exhibits, path: str) -> tuple[Exhibit | None, Ruling]:
    """The file to be judged, and the ruling that is due when it is not there as a whole."""
    exhibit = shown.files.get(path)
    if exhibit is None:
        return None, Ruling(complaints=[f"{path} was not put before the verifier."])
    known = exhibit.whole or (exhibit.total is not None and len(exhibit.lines) == exhibit.total)
    if not known:
        return None, Ruling(complaints=[f"Only a part of {path} was put before the verifier."])
    return exhibit, Ruling()


def _complete_entries(*needed: str, letter: str, noun: str) -> Callable[[Exhibits, _Blanks], Ruling]:
    """Every entry has the fields; `quote` among them stands for the quote."""

    def judge(shown: Exhibits, blanks: _Blanks) -> Ruling:
        exhibit, missing = _written(shown, blanks["path"])
        if exhibit is None:
            return missing
        tally = _Tally()
        listed = [entry for entry in entries(exhibit) if re.fullmatch(rf"{letter}\d+", entry.name)]
        for entry in listed:
            lacking = [name for name in needed if not (entry.quote if name == "quote" else entry.fields.get(name))]
            if lacking:
                parts = " and no ".join(name.lower() for name in lacking)
                tally.complaints.append(f"{noun} {entry.place} has no {parts}.")
            else:
                _quote_entry(tally, exhibit, entry, needed[-1])
        return tally.ruling() if listed else _nothing_listed(exhibit)

    return judge


def _quote_entry(tally: _Tally, exhibit: Exhibit, entry: Entry, last: str) -> None:
    value = entry.quote if last == "quote" else f"- {last}: {entry.fields[last]}"
    tally.quote(exhibit.path, value)


def _nothing_listed(exhibit: Exhibit) -> Ruling:
    """A file without entries holds only if it says so itself."""
    line = next(
        (
            text
            for text in exhibit.lines.values()
            if re.match(r"(?:No |0 |Nothing )", text) and not text.startswith(">")
        ),
        "",
    )
    if line:
        return Ruling([(exhibit.path, line[:QUOTE_CHARS].strip())], confidence=0.9)
    return Ruling(complaints=[f"{exhibit.path} lists nothing and does not say that nothing was found."])


def _quotes_occur(shown: Exhibits, blanks: _Blanks) -> Ruling:
    exhibit, missing = _written(shown, blanks["path"])
    if exhibit is None:
        return missing
    tally = _Tally()
    listed = [entry for entry in entries(exhibit) if entry.quote]
    for entry in listed:
        path, line = entry.fields.get("Document", ""), entry.fields.get("Line", "")
        source = shown.files.get(path)
        if source is None:
            tally.complaints.append(
                f"{entry.place} quotes from {path or 'no document'}, which was not put before the verifier."
            )
        elif line.isdigit() and not source.holds(entry.quote, int(line)):
            tally.complaints.append(f"The quote of {entry.place} does not stand there: “{entry.quote[:80]}”.")
        elif not line.isdigit() and entry.quote not in source.folded:
            tally.complaints.append(f"The quote of {entry.place} does not occur in {path}: “{entry.quote[:80]}”.")
        else:
            tally.quote(path, entry.quote)
    return tally.ruling() if listed else _nothing_listed(exhibit)


def _inventory_files(shown: Exhibits, blanks: _Blanks) -> Ruling:
    exhibit, missing = _written(shown, blanks["path"])
    if exhibit is None:
        return missing
    rows = _rows(exhibit)
    left = next((text for text in exhibit.lines.values() if text.startswith(w.NOT_LISTED)), "")
    counted = int(left.removeprefix(w.NOT_LISTED).split(" ", 1)[0]) if left else 0
    folder = blanks["path"].rpartition("/")[0] + "/"
    expected = [path for path in shown.sizes if not path.startswith(folder)]
    lacking = [path for path in expected if path not in rows]
    tally = _Tally()
    for line in [*rows.values(), left, next(iter(_starting(exhibit, "Files in all: ")), "")][-MAX_QUOTES:]:
        tally.quote(exhibit.path, line)
    if lacking and len(lacking) + shown.unlisted > counted:
        tally.complaints += [f"{path} is not listed in {exhibit.path}." for path in lacking]
    return tally.ruling()


def _inventory_lines(shown: Exhibits, blanks: _Blanks) -> Ruling:
    exhibit, missing = _written(shown, blanks["path"])
    if exhibit is None:
        return missing
    tally = _Tally()
    for path, row in _rows(exhibit).items():
        stated, source = _cells(row)[2], shown.files.get(path)
        if source is None or source.total is None:
            if stated.isdigit():
                tally.complaints.append(f"{exhibit.path} gives {stated} lines for {path}, which was not read.")
        elif stated != str(source.total):
            tally.complaints.append(f"{exhibit.path} gives {stated or 'no'} lines for {path}; it has {source.total}.")
        else:
            tally.quote(exhibit.path, row)
    if not tally.evidence and not tally.complaints:
        for line in _starting(exhibit, "Files in all: "):
            tally.quote(exhibit.path, line)
    return tally.ruling()


def _facts_occur(shown: Exhibits, blanks: _Blanks) -> Ruling:
    exhibit, missing = _written(shown, blanks["path"])
    if exhibit is None:
        return missing
    tally = _Tally()
    rows = list(csv.DictReader(io.StringIO(exhibit.text)))
    for number, row in enumerate(rows, 1):
        path, text, line = (row.get(name) or "" for name in ("document", "text", "line"))
        source = shown.files.get(path)
        if source is None:
            tally.complaints.append(f"Row {number} names {path}, which was not put before the verifier.")
        elif not line.isdigit() or not source.holds(text, int(line)):
            tally.complaints.append(f"Row {number}: “{text[:60]}” does not stand in {path}, line {line}.")
        else:
            tally.quote(path, text)
    if not rows:
        tally.quote(exhibit.path, exhibit.text)
    return tally.ruling()


def _references_occur(shown: Exhibits, blanks: _Blanks) -> Ruling:
    exhibit, missing = _written(shown, blanks["path"])
    if exhibit is None:
        return missing
    tally = _Tally()
    seen = 0
    for text in exhibit.lines.values():
        for match in re.finditer(r"(?=^- (.+?):(\d+): (.*))|(?=^- (.+):(\d+): (.*))", text):
            path, line, said = match.group(1, 2, 3)
            seen += 1
            source = shown.files.get(path)
            if source is None or not source.holds(said, int(line)):
                tally.complaints.append(f"“{said[:60]}” was not seen in {path}, line {line}.")
            else:
                tally.quote(path, said)
                tally.quote(exhibit.path, text)
    if not seen or not (tally.evidence or tally.complaints):
        for text in _saying_none(exhibit):
            tally.quote(exhibit.path, text)
    return tally.ruling()


def _saying_none(exhibit: Exhibit) -> list[str]:
    return [text for text in exhibit.lines.values() if re.match(r"None found\.|0 ", text)][:1]


def _notices_complete(shown: Exhibits, blanks: _Blanks) -> Ruling:
    notices, missing = _written(shown, blanks["path"])
    findings, also = _written(shown, blanks["other"])
    if notices is None or findings is None:
        return missing if notices is None else also
    tally = _Tally()
    names = [entry.name for entry in entries(findings) if re.fullmatch(r"F\d+", entry.name)]
    raised = {match[1]: text for text in notices.lines.values() if (match := re.match(r"\d+\. (F\d+)\b", text))}
    for name in names:
        if name in raised:
            tally.quote(notices.path, raised[name])
        else:
            tally.complaints.append(f"Finding {name} is raised in no notice.")
    return tally.ruling() if names else _nothing_listed(notices)


def _summary_covers(shown: Exhibits, blanks: _Blanks) -> Ruling:
    summary, missing = _written(shown, blanks["path"])
    digest, also = _written(shown, blanks["other"])
    if summary is None or digest is None:
        return missing if summary is None else also
    tally = _Tally()
    named = set(summary.lines.values())
    documents = dict.fromkeys(entry.fields["Document"] for entry in entries(digest) if "Document" in entry.fields)
    for document in documents:
        if f"- {document}" in named:
            tally.quote(summary.path, f"- {document}")
        else:
            tally.complaints.append(f"{document} is not named in {summary.path}.")
    return tally.ruling() if documents else _nothing_listed(summary)


def _answer_figures(shown: Exhibits, blanks: _Blanks) -> Ruling:
    tally = _Tally()
    first = next((line for line in shown.output.split("\n") if line.strip()), "")
    if not re.search(r"\d", first):
        tally.complaints.append("The answer does not begin with a figure.")
    tally.quote("@output", first)
    if blanks["path"] in shown.output:
        tally.quote("@output", blanks["path"])
    else:
        tally.complaints.append(f"The answer does not name {blanks['path']}.")
    exhibit = shown.files.get(blanks["path"])
    stated = next(iter(_starting(exhibit, w.POINTS)), "") if exhibit else ""
    number = stated.removeprefix(w.POINTS).strip()
    if number.isdigit() and int(number) and not re.search(rf"\b{number}\b", first):
        tally.complaints.append(f"{blanks['path']} counts {number} points; the answer begins otherwise.")
    return tally.ruling()


def _answer_no_ai(shown: Exhibits, _: _Blanks) -> Ruling:
    line = next((text for text in shown.output.split("\n") if "no AI was involved" in text), "")
    if line:
        return Ruling([("@output", line[:QUOTE_CHARS].strip())])
    return Ruling(complaints=["The answer does not say that no AI was involved."])


def _starting(exhibit: Exhibit, label: str) -> list[str]:
    return [text for text in exhibit.lines.values() if text.startswith(label)]


def _rows(exhibit: Exhibit) -> dict[str, str]:
    """The rows of the file table by path; rows of other tables have fewer cells."""
    rows = {}
    for text in exhibit.lines.values():
        cells = _cells(text) if text.startswith("| ") else []
        if len(cells) == 5 and cells[0] != "File":
            rows[cells[0]] = text
    return rows


def _cells(row: str) -> list[str]:
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


_JUDGES: dict[str, Callable[[Exhibits, _Blanks], Ruling]] = {
    w.INVENTORY_FILES: _inventory_files,
    w.INVENTORY_LINES: _inventory_lines,
    w.FACTS_OCCUR: _facts_occur,
    w.FINDINGS_WHOLE: _complete_entries("Document", "Line", "quote", "Recommendation", letter="F", noun="Finding"),
    w.QUOTES_OCCUR: _quotes_occur,
    w.NOTICES_COMPLETE: _notices_complete,
    w.REFERENCES_OCCUR: _references_occur,
    w.ADVICE_WHOLE: _complete_entries("Document", "Line", "quote", letter="R", noun="Recommendation"),
    w.PASSAGES_WHOLE: _complete_entries("quote", "Document", "Line", letter="P", noun="Passage"),
    w.SUMMARY_COVERS: _summary_covers,
    w.ANSWER_FIGURES: _answer_figures,
    w.ANSWER_NO_AI: _answer_no_ai,
}
