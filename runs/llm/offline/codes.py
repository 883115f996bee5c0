"""Owns what can be seen in source files by their form: entry points, marks, imports, targets, jobs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename, dirname, normpath, splitext

from runs.llm.offline.reading import Document
from runs.llm.offline.texts import folded, language

SHOWN = 140


@dataclass(frozen=True)
class Reference:
    """A place that was seen: the text is a verbatim part of the line."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"- {self.path}:{self.line}: {self.text}"


_TODO = re.compile(r"(?<![\w-])(?:TODO|FIXME|HACK|XXX)(?![\w-])")
_ENTRY = re.compile(
    r"^if __name__ == ['\"]__main__['\"]|^func main\(|^(?:int|void) main\(|public static void main\(|^fn "
    r"main\(|"
    r"^(?:ENTRYPOINT|CMD)\b|^\[project\.scripts\]|^\s*\"(?:main|bin)\"\s*:|^#!/"
)
_PYTHON = re.compile(r"^\s*(?:from\s+(?P<origin>\.*[\w.]*)\s+import\b|import\s+(?P<names>[\w.]+(?:\s*,\s*[\w.]+)*))")
_SCRIPT = re.compile(r"(?:\bfrom\s+|\bimport\s+|\brequire\(\s*)['\"](?P<name>[^'\"]{1,200})['\"]")
_TARGET = re.compile(r"^[A-Za-z0-9_.-]+\s*:(?!=)")
_NPM = re.compile(r"^\s*\"[\w:.-]+\"\s*:\s*\".+\"")
_JOB = re.compile(r"^\s*-?\s*(?:run|script|stage|jobs|name)\s*:|^\s*-\s+\S+")
_CI = re.compile(r"(^|/)(\.github/workflows/|\.ci/|\.gitlab-ci\.ya?ml$|azure-pipelines\.yml$|\.travis\.yml$)")
_MAKEFILES = frozenset({"makefile", "gnumakefile", "justfile"})
_SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".vue", ".svelte")


def todos(document: Document) -> Iterator[Reference]:
    return _lines(document, _TODO)


def entry_points(document: Document) -> Iterator[Reference]:
    """Lines with which something is started; a shebang counts in the first line only."""
    for found in _lines(document, _ENTRY):
        if not found.text.startswith("#!") or found.line == 1:
            yield found


def workflows_in(document: Document) -> Iterator[tuple[str, Reference]]:
    """What is run, with the kind of place it stands in."""
    name = basename(document.path).lower()
    if name in _MAKEFILES:
        yield from (("make target", found) for found in _lines(document, _TARGET) if not found.text.startswith("."))
    elif name == "package.json":
        yield from (("script", found) for found in _scripts_of(document))
    elif is_ci(document.path):
        yield from (("continuous integration", found) for found in _lines(document, _JOB))
    yield from (("entry point", found) for found in entry_points(document))


def _scripts_of(document: Document) -> Iterator[Reference]:
    inside = False
    for number, line in sorted(document.lines.items()):
        if '"scripts"' in line:
            inside = True
        elif inside and "}" in line:
            return
        elif inside and _NPM.match(line):
            yield _reference(document, number, line, 0)


def imports_in(document: Document) -> Iterator[tuple[str, Reference]]:
    """The name that is imported and the line that does it; Python and JavaScript families only."""
    suffix = splitext(document.path.lower())[1]
    for number, line in sorted(document.lines.items()):
        if suffix == ".py" and (match := _PYTHON.match(line)):
            names = [match["origin"]] if match["origin"] else re.split(r"\s*,\s*", match["names"] or "")
            yield from ((name, _reference(document, number, line, 0)) for name in names if name)
        elif suffix in _SCRIPTS and (script := _SCRIPT.search(line)):
            yield script["name"], _reference(document, number, line, script.start())


def resolved(name: str, importer: str, paths: Sequence[str], index: Mapping[str, str]) -> str:
    """The file of the project that an import means, or nothing when it comes from elsewhere."""
    if splitext(importer.lower())[1] == ".py":
        return _python_file(name, importer, index)
    if not name.startswith("."):
        return ""
    base = normpath(f"{dirname(importer)}/{name}" if dirname(importer) else name)
    endings = ("", *_SCRIPTS, *(f"/index{suffix}" for suffix in _SCRIPTS))
    return next((base + ending for ending in endings if base + ending in paths), "")


def module_index(paths: Sequence[str]) -> dict[str, str]:
    """Dotted names to files; the shorter names are there too, for projects in a folder such as src/."""
    index: dict[str, str] = {}
    for path in sorted((p for p in paths if p.endswith(".py")), key=lambda p: (p.count("/"), p)):
        parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
        for start in range(len(parts)):
            index.setdefault(".".join(parts[start:]), path)
    return index


def _python_file(name: str, importer: str, index: Mapping[str, str]) -> str:
    dots = len(name) - len(name.lstrip("."))
    if dots:
        parts = importer.split("/")[:-dots]
        name = ".".join([*parts, *([name.lstrip(".")] if name.lstrip(".") else [])])
    while name:
        if name in index:
            return index[name]
        name = name.rpartition(".")[0]
    return ""


def is_test(path: str) -> bool:
    name = basename(path).lower()
    return bool(re.match(r"tests?[_.-]|.*[_.-]tests?\.|.*\.spec\.", name)) or "/tests/" in f"/{path.lower()}"


def is_ci(path: str) -> bool:
    return bool(_CI.search(path.lower()))


def is_code(path: str) -> bool:
    return bool(language(path))


def _lines(document: Document, pattern: re.Pattern[str]) -> Iterator[Reference]:
    for number, line in sorted(document.lines.items()):
        if match := pattern.search(line):
            yield _reference(document, number, line, match.start())


def _reference(document: Document, number: int, line: str, at: int) -> Reference:
    """The line from a little before `at`, cut where it is long; folded, since it stands on one line."""
    start = 0 if len(line) <= SHOWN else max(0, at - 40)
    return Reference(document.path, number, folded(line[start : start + SHOWN]))
