"""Code taken apart into comments, words of the language, strings, numbers and names. Knows nothing of Django: it is
called in isolated processes, since a lexer may take very long over a text that was made for it.
"""

import json
from collections.abc import Iterator
from itertools import islice

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String, Token

type Span = tuple[int, int, str]
"""Its first character, the one after its last, and the sort of it, one of `SORTS`."""

MAX_SPANS = 40_000
"""Of one text: as many elements of a page, a megabyte and a half. A long module of a program has half as many."""
SORTS = {
    Comment: "c",
    Keyword: "k",
    Operator.Word: "k",
    String: "s",
    Number: "n",
    Literal: "n",
    Name.Function: "f",
    Name.Class: "f",
    Name.Tag: "f",
    Name.Attribute: "f",
    Name.Decorator: "f",
    Name.Namespace: "f",
    Token.Generic.Heading: "k",
}
_LEXERS = {
    "bash": "sh bash",
    "c": "c h",
    "clojure": "clj",
    "cpp": "cc cpp cxx hh hpp",
    "csharp": "cs",
    "css": "css",
    "dart": "dart",
    "docker": "dockerfile",
    "elixir": "ex exs",
    "erlang": "erl",
    "fsharp": "fs",
    "go": "go",
    "groovy": "gradle groovy",
    "haskell": "hs",
    "html": "htm html",
    "ini": "cfg conf ini",
    "java": "java",
    "javascript": "cjs js jsx mjs",
    "json": "geojson ipynb json",
    "julia": "jl",
    "kotlin": "kt kts",
    "lua": "lua",
    "make": "makefile mk",
    "matlab": "m",
    "perl": "pl pm",
    "php": "php",
    "powershell": "ps1",
    "protobuf": "proto",
    "python": "py pyi",
    "r": "r",
    "ruby": "rb",
    "rust": "rs",
    "scala": "scala",
    "scss": "scss",
    "sql": "sql",
    "swift": "swift",
    "terraform": "tf",
    "tex": "sty tex",
    "toml": "toml",
    "typescript": "ts tsx",
    "xml": "svg xml xsd xsl",
    "yaml": "yaml yml",
}
_NAMES = ("dockerfile", "makefile")
_BY_ENDING = {ending: name for name, endings in _LEXERS.items() for ending in endings.split()}


def language_of(path: str) -> str:
    """The language of a file by the end of its name, or by a name such as Makefile; empty for none."""
    name = path.rpartition("/")[2].lower()
    return _BY_ENDING.get(name.rpartition(".")[2], "") if "." in name or name in _NAMES else ""


def taken_apart(data: bytes, language: str) -> bytes:
    """Returns the spans of a UTF-8 text in order, as JSON, without those of no sort; none for more than `MAX_SPANS`.

    It runs in an isolated process.
    """
    found = list(islice(_spans(data.decode(), language), MAX_SPANS + 1))
    return json.dumps(found if len(found) <= MAX_SPANS else []).encode()


def _spans(text: str, language: str) -> Iterator[Span]:
    """Neighbours of one sort are one."""
    start = end = 0
    sort = ""
    for at, kind, value in get_lexer_by_name(language).get_tokens_unprocessed(text):
        if at < end:  # a language within another may be given twice
            continue
        its = next((SORTS[one] for one in reversed(kind.split()) if one in SORTS), "")
        if (at, its) != (end, sort):
            if sort:
                yield start, end, sort
            start, sort = at, its
        end = at + len(value)
    if sort:
        yield start, end, sort
