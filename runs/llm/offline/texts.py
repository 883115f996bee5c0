"""Owns small helpers on text that every rule may use: folding, cutting, sentences with their lines, words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename, dirname, splitext

QUOTE_CHARS = 240


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


TEXT_SUFFIXES = word_set(
    ".md .markdown .txt .text .rst .adoc .tex .csv .tsv .json .jsonl .yaml .yml .toml .ini .cfg .conf "
    ".xml .html .htm"
    " .css .log .eml .srt .vtt .org .env .properties"
)
LANGUAGES: Mapping[str, str] = {
    ".py": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript", ".jsx": "JavaScript",
    ".ts": "TypeScript", ".tsx": "TypeScript", ".java": "Java", ".kt": "Kotlin", ".c": "C", ".h": "C",
    ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".go": "Go", ".rs": "Rust", ".rb": "Ruby",
    ".php": "PHP", ".swift": "Swift", ".scala": "Scala", ".sh": "Shell", ".ps1": "PowerShell",
    ".sql": "SQL", ".r": "R", ".jl": "Julia", ".lua": "Lua", ".pl": "Perl", ".ex": "Elixir", ".hs": "Haskell",
    ".bash": "Shell", ".vue": "Vue", ".svelte": "Svelte", ".dart": "Dart",
}  # fmt: skip
BINARY_SUFFIXES = word_set(
    ".pdf .png .jpg .jpeg .gif .webp .ico .bmp .tif .tiff .svgz .zip .gz .tgz .bz2 .xz .7z .rar .tar "
    ".doc .docx .xls .xlsx"
    " .ppt .pptx .odt .ods .odp .mp3 .mp4 .mov .avi .wav .ogg .woff .woff2 .ttf .otf .exe .dll .so "
    ".dylib .o .a .class .jar"
    " .pyc .pyd .whl .db .sqlite .sqlite3 .parquet .bin .dat .iso .msg .pages .numbers .key .psd"
)
PLAIN_NAMES = word_set(
    "makefile dockerfile readme license licence copying changelog authors contributing procfile jenkinsfile"
    " gemfile rakefile notice codeowners"
)

_SPACE = re.compile(r"\s+")
_STARTS_BLOCK = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d+(?:\.\d+)+[.)]?\s|\d+[.)]\s|\||>|```|\*\*[^*]+\*\*:?\s*$)")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-ZÄÖÜ0-9“\"(\[*_–-])")
_SHORT = re.compile(
    r"(?:\b(?:No|Nr|Art|Ltd|Dr|Mr|Mrs|Ms|St|Inc|Co|approx|ca|bzw|vs|e\.g|i\.e|z\.B|Abs)\.|^\W*\d*[.)]?)$"
)


@dataclass(frozen=True)
class Span:
    """Some text of a document, whitespace folded. `starts`: where in it each of its lines begins."""

    text: str
    starts: tuple[tuple[int, int], ...]

    @property
    def line(self) -> int:
        return self.starts[0][1]

    def part(self, start: int, end: int, most: int = QUOTE_CHARS) -> tuple[str, int]:
        """A verbatim part around start:end and the line in which it begins."""
        quote = clipped(self.text, start, end, most)
        at = max(0, self.text.find(quote))
        return quote, max(line for offset, line in self.starts if offset <= at)


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


def share_of(count: int, whole: int, noun: str) -> str:
    return number_of(whole, noun) if count == whole else f"{count} of {number_of(whole, noun)}"


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
    cuts = [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    found: list[Span] = []
    start = 0
    for end in cuts:
        piece = text[start:end]
        if not piece.strip() or (end < len(text) and _SHORT.search(piece.strip())):
            continue
        found.append(_span(piece, block[text.count("\n", 0, start)][0]))
        start = end
    return found


def _span(piece: str, first: int) -> Span:
    """`first`: the line in which the piece begins; blocks have no gaps."""
    text = ""
    starts: list[tuple[int, int]] = []
    for number, line in enumerate(piece.split("\n"), first):
        if words := folded(line):
            text = f"{text} {words}" if text else words
            starts.append((len(text) - len(words), number))
    return Span(text, tuple(starts))


def is_texty(path: str) -> bool:
    """Whether a name promises text. Reading decides."""
    stem, suffix = splitext(basename(path).lower())
    return suffix in TEXT_SUFFIXES or suffix in LANGUAGES or (not suffix and stem.lstrip(".") in PLAIN_NAMES)


def is_binary_name(path: str) -> bool:
    """Whether a name promises something that cannot be text, so that reading it would be a wasted call."""
    return splitext(path.lower())[1] in BINARY_SUFFIXES


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
