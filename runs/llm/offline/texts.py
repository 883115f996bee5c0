"""Owns small helpers on text that every rule may use: folding, cutting, sentences with their lines, words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename, dirname, splitext

QUOTE_CHARS = 240

TEXT_SUFFIXES = frozenset(
    ".md .markdown .txt .text .rst .adoc .tex .csv .tsv .json .jsonl .yaml .yml .toml .ini .cfg .conf .xml .html .htm"
    " .css .log .eml .srt .vtt .org .env .properties".split()
)
LANGUAGES: Mapping[str, str] = {
    ".py": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript", ".jsx": "JavaScript",
    ".ts": "TypeScript", ".tsx": "TypeScript", ".java": "Java", ".kt": "Kotlin", ".c": "C", ".h": "C",
    ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".go": "Go", ".rs": "Rust", ".rb": "Ruby",
    ".php": "PHP", ".swift": "Swift", ".scala": "Scala", ".sh": "Shell", ".bash": "Shell", ".ps1": "PowerShell",
    ".sql": "SQL", ".r": "R", ".jl": "Julia", ".lua": "Lua", ".pl": "Perl", ".ex": "Elixir", ".hs": "Haskell",
    ".vue": "Vue", ".svelte": "Svelte", ".dart": "Dart",
}  # fmt: skip
PLAIN_NAMES = frozenset(
    "makefile dockerfile readme license licence copying changelog authors contributing procfile jenkinsfile"
    " gemfile rakefile notice codeowners".split()
)

_SPACE = re.compile(r"\s+")
_STARTS_BLOCK = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d+(?:\.\d+)*[.)]?\s|\||>|```|\*\*[^*]+\*\*:?\s*$)")
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+(?=[A-ZÄÖÜ0-9“\"(\[*_–-])")
_SHORT = re.compile(r"(?:\b(?:No|Nr|Art|Ltd|Dr|Mr|Mrs|Ms|St|Inc|Co|approx|ca|bzw|vs|e\.g|i\.e|z\.B|Abs)\.|^\W*\d*[.)]?)$")


@dataclass(frozen=True)
class Span:
    """Some text of a document, whitespace folded, and the line in which it begins."""

    text: str
    line: int


def folded(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def shortened(text: str, most: int) -> str:
    """One line of at most `most` characters, with an ellipsis where something was cut."""
    line = folded(text)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def clipped(text: str, start: int, end: int, most: int = QUOTE_CHARS) -> str:
    """A verbatim part of `text` around start:end, cut at word boundaries, never with an ellipsis."""
    if len(text) <= most:
        return text
    left = max(0, min(start - (most - (end - start)) // 2, len(text) - most))
    right = min(len(text), left + most)
    if left > 0:
        left = _after_space(text, left, start)
    if right < len(text):
        space = text.rfind(" ", max(end, left + 1), right)
        right = space if space > 0 else right
    return text[left:right].strip()


def _after_space(text: str, left: int, start: int) -> int:
    space = text.find(" ", left, max(left, start))
    return space + 1 if space >= 0 else left


def number_of(count: int, noun: str, plural: str = "") -> str:
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def blocks(lines: Mapping[int, str]) -> Iterator[list[tuple[int, str]]]:
    """Paragraphs, list items, headings and table rows: lines that belong to one sentence stay together."""
    block: list[tuple[int, str]] = []
    last = 0
    for number in sorted(lines):
        line = lines[number]
        fresh = not line.strip() or _STARTS_BLOCK.match(line) or number != last + 1
        if fresh and block:
            yield block
            block = []
        if line.strip():
            block.append((number, line))
            if line.lstrip().startswith(("#", "|")):
                yield block
                block = []
        last = number
    if block:
        yield block


def sentences(block: Sequence[tuple[int, str]]) -> list[Span]:
    """The sentences of a block, each verbatim but for folded whitespace."""
    text = "\n".join(line for _, line in block)
    numbers = [number for number, _ in block]
    cuts = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    found: list[Span] = []
    start = 0
    for end in cuts[1:]:
        piece = text[start:end]
        if not piece.strip() or (end < len(text) and _SHORT.search(piece.strip())):
            continue
        lead = len(piece) - len(piece.lstrip())
        found.append(Span(folded(piece), numbers[text.count("\n", 0, start + lead)]))
        start = end
    return found


def is_texty(path: str) -> bool:
    """Whether a name promises text. Reading decides."""
    stem, suffix = splitext(basename(path).lower())
    return suffix in TEXT_SUFFIXES or suffix in LANGUAGES or (not suffix and stem.lstrip(".") in PLAIN_NAMES)


def language(path: str) -> str:
    return LANGUAGES.get(splitext(path.lower())[1], "")


def inside(path: str, folder: str) -> bool:
    return bool(folder) and path.startswith(folder + "/")


def folder_of(path: str) -> str:
    return dirname(path)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A Markdown table; a bar in a cell is escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return lines
