"""Owns the files of a project analysis: inventory, architecture, workflows, recommendations."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import basename, dirname

from runs.llm.offline import codes
from runs.llm.offline.codes import Reference
from runs.llm.offline.reading import Document
from runs.llm.offline.review import files_listed
from runs.llm.offline.texts import language, number_of, table
from runs.llm.offline.works import Job, Work, item, page

LONG_FILE = 400
LISTED = 120


def scan(job: Job) -> Work:
    """The inventory of the files, and what their names and lines say of the project."""
    listed, said = files_listed(job)
    read = job.books.read(job.inputs)
    todos = [found for document in read for found in codes.todos(document)]
    entries = [found for document in read for found in codes.entry_points(document)]
    signs = _signs(job, read, todos, entries)
    lines = ["## Signs", "", *(f"- {name}: {value}" for name, value in signs)]
    lines += ["", "## Languages", "", *_languages(read)]
    lines += ["", "## Largest files", "", *_largest(read)]
    lines += _references("Entry points", entries) + _references("TODO marks", todos)
    told = [said, "", *(f"- {name}: {value}" for name, value in signs)]
    content = page("Inventory of the project", job, [*lines, "", "## Files", "", *listed])
    return Work(content, "\n".join(told), "Counted by name and by line.")


def _signs(
    job: Job, read: Sequence[Document], todos: Sequence[Reference], entries: Sequence[Reference]
) -> list[tuple[str, object]]:
    """One line each, so that a recommendation can quote it."""
    names = [basename(path).lower() for path in job.kept]
    long = [d.path for d in read if codes.is_code(d.path) and (d.total or 0) > LONG_FILE]
    return [
        ("README", _found(job.kept, [n.startswith("readme") for n in names])),
        ("Licence", _found(job.kept, [n.startswith(("license", "licence", "copying")) for n in names])),
        ("Tests", _counted([path for path in job.kept if codes.is_test(path)])),
        ("Continuous integration", _counted([path for path in job.kept if codes.is_ci(path)])),
        ("Source files", sum(codes.is_code(path) for path in job.kept)),
        (f"Source files over {LONG_FILE} lines", _counted(long)),
        ("TODO marks", len(todos)),
        ("Entry points seen", len(entries)),
    ]  # fmt: skip


def _found(paths: Sequence[str], flags: Sequence[bool]) -> str:
    return next((path for path, flag in zip(paths, flags, strict=True) if flag), "none found")


def _counted(paths: Sequence[str]) -> str:
    return f"{len(paths)} ({', '.join(paths[:3])}{', …' if len(paths) > 3 else ''})" if paths else "none found"


def _languages(read: Sequence[Document]) -> list[str]:
    files: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for document in read:
        name = language(document.path) or "other text"
        files[name] += 1
        lines[name] += document.total or 0
    rows = [(name, files[name], lines[name]) for name in sorted(files, key=lambda n: (-lines[n], n))]
    return table(("Language", "Files", "Lines"), rows)


def _largest(read: Sequence[Document]) -> list[str]:
    ranked = sorted(read, key=lambda d: (-(d.total or 0), d.path))[:10]
    return [f"- {document.path} ({number_of(document.total or 0, 'line')})" for document in ranked] or ["None."]


def _references(title: str, found: Sequence[Reference]) -> list[str]:
    lines = ["", f"## {title}", ""]
    if not found:
        return [*lines, "None found."]
    more = [f"\nNot listed here: {len(found) - LISTED} more."] if len(found) > LISTED else []
    return [*lines, *(str(reference) for reference in found[:LISTED]), *more]


def architecture(job: Job) -> Work:
    """Folders, and which files of the project import which, each by the line that does it."""
    read = job.books.read(job.inputs)
    paths = [document.path for document in read]
    index = codes.module_index(paths)
    inner: list[Reference] = []
    used: Counter[str] = Counter()
    outer: Counter[str] = Counter()
    for document in read:
        for name, reference in codes.imports_in(document):
            target = codes.resolved(name, document.path, paths, index)
            if target and target != document.path:
                used[target] += 1
                inner.append(reference)
            elif not target and not name.startswith("."):
                outer[name.split(".")[0] if document.path.endswith(".py") else name] += 1
    folders = Counter(dirname(path) or "(top)" for path in job.kept)
    said = (
        f"{number_of(len(inner), 'import')} between files of the project; "
        f"{number_of(len(outer), 'name')} imported from elsewhere."
    )
    lines = [said, "", "## Folders", "", *table(("Folder", "Files"), sorted(folders.items())[:100])]
    lines += ["", "## Used most", "", *_ranked(used)]
    lines += ["", "## From elsewhere", "", *_ranked(outer)]
    lines += _references("Imports between files", list(dict.fromkeys(inner)))
    told = [said, "", *_ranked(used)]
    return Work(page("Architecture", job, lines), "\n".join(told), "Matched import lines with the names of the files.")


def _ranked(counts: Counter[str]) -> list[str]:
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:20]
    return [f"- {name} ({number_of(count, 'import')})" for name, count in ranked] or ["None."]


def workflows(job: Job) -> Work:
    """Everything that is meant to be run, by the kind of place it stands in."""
    found = [entry for document in job.books.read(job.inputs) for entry in codes.workflows_in(document)]
    kinds = Counter(kind for kind, _ in found)
    parts = ", ".join(f"{count} × {kind}" for kind, count in sorted(kinds.items()))
    said = f"{number_of(len(found), 'line')} that start, build or test something{': ' + parts if parts else ''}."
    lines = [said]
    for kind in sorted(kinds):
        lines += _references(kind.capitalize(), [reference for name, reference in found if name == kind])
    return Work(page("Workflows", job, lines), said, "Looked for make targets, scripts, jobs and entry points.")


@dataclass(frozen=True)
class _Advice:
    title: str
    why: str
    path: str
    line: int
    quote: str


_RULES = (
    (
        r"- README: none found",
        "Add a README",
        "Nobody can tell from the files what the project is for and how it is started.",
    ),
    (r"- Licence: none found", "Add a licence", "Without one nobody else may use or change the project."),
    (
        r"- Tests: none found",
        "Add tests",
        "No file looks like a test by its name, so that a change can break things unnoticed.",
    ),
    (
        r"- Continuous integration: none found",
        "Run the tests by machine",
        "No file of a continuous integration was found.",
    ),
    (
        rf"- Source files over {LONG_FILE} lines: \d.*",
        "Divide the long files",
        "Long files are hard to read and to review.",
    ),
    (
        r"- TODO marks: [1-9]\d*",
        "Settle the TODO marks",
        "Marks in the text say that something is unfinished.",
    ),
    (r"- Entry points seen: 0", "Say how it is started", "No line was seen that starts anything."),
)


_FOR_CODE = frozenset({"Add tests", "Run the tests by machine", "Say how it is started"})


def recommendations(job: Job) -> Work:
    """What the signs of the inventory suggest, each with its line; in the rehearsal one lacks it."""
    found = list(_advice(job))
    silent = len(found) // 2 if job.leave_out and found else -1
    said = f"{number_of(len(found), 'recommendation')} from the signs of the inventory."
    lines = [said if found else "0 recommendations: none of the rules applies."]
    for index, advice in enumerate(found):
        shown = index != silent
        fields = [("Why", advice.why)]
        if shown:
            fields += [("Document", advice.path), ("Line", str(advice.line))]
        lines += item(f"R{index + 1} · {advice.title}", fields, advice.quote if shown else "")
    told = [lines[0], "", *(f"- R{n} {a.title}: “{a.quote}”" for n, a in enumerate(found, 1))]
    return Work(page("Recommendations", job, lines), "\n".join(told).rstrip(), "Compared the signs with fixed rules.")


def _advice(job: Job) -> Iterator[_Advice]:
    """What the rules say to the signs; where there is no source code, some of them say nothing."""
    path = f"{job.folder}/inventory.md"
    signs = dict(_read_signs(job.books.documents.get(path)))
    codeless = "- Source files: 0" in signs.values()
    for number, line in signs.items():
        for pattern, title, why in _RULES:
            if re.fullmatch(pattern, line) and not (codeless and title in _FOR_CODE):
                yield _Advice(title, why, path, number, line[2:])


def _read_signs(document: Document | None) -> Iterator[tuple[int, str]]:
    """The lines of their own section only: what files say further down cannot pass for a sign."""
    within = False
    for number, line in sorted(document.lines.items()) if document else []:
        if line.startswith("## "):
            within = line == "## Signs"
        elif within and line:
            yield number, line
