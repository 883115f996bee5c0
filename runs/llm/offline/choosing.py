"""Owns what the rules make of a request and of a person's feedback: kind of job, documents."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from posixpath import basename
from typing import Literal

from runs.llm.offline.texts import is_texty, language

type Kind = Literal["review", "analysis", "digest", "inventory"]

_REVIEW = re.compile(
    r"\b(contracts?|agreements?|leases?|clauses?|terms|notices?|ndas?|legal|review|redline|"
    r"counterpart(?:y|ies)|"
    r"vertr[aä]ge?s?|\w*vertrag|\w*verträge|klauseln?|vereinbarung(?:en)?|prüf\w*|mitteilung(?:en)?|"
    r"begutacht\w*)\b",
    re.IGNORECASE,
)
_ANALYSIS = re.compile(
    r"\b(projects?|code|codebase|architecture|repositor(?:y|ies)|repo|source|software|modules?|"
    r"workflows?|refactor\w*|"
    r"projekte?|quelltexte?|quellcode|architektur|programme?)\b",
    re.IGNORECASE,
)
_DIGEST = re.compile(
    r"\b(digest|summar\w*|extract\w*|overview|interviews?|zusammenfass\w*|überblick|auszug|auszüge)\b",
    re.IGNORECASE,
)
_CONTRACT_NAME = re.compile(r"contract|agreement|lease|nda|terms|vertrag|vereinbarung|klausel|agb", re.IGNORECASE)
_INSTEAD = re.compile(
    r"(document review|project analysis|digest)\s+instead|instead\b[^.\n]{0,40}?\b(document review|"
    r"project analysis|digest)",
    re.IGNORECASE,
)
_NO_REHEARSAL = re.compile(
    r"\b(no|without(?: the| a)?|skip the|drop the|ohne|keine) (rehearsal|probe|generalprobe)\b", re.IGNORECASE
)
_KINDS: Mapping[str, Kind] = {"document review": "review", "project analysis": "analysis", "digest": "digest"}

_CUES = (
    (
        "keep",
        r"\b(?:do not|don['’]t|never|not) (?:leave "
        r"out|skip|ignore|omit|exclude|drop|only)\b|\balso\b|\bagain\b|\binclude\b",
    ),
    (
        "out",
        r"\b(?:leave out|leaving out|left out|without|skip|ignore|omit|exclude|drop|except|but|not|ohne|"
        r"außer|weglassen|nicht)\b",
    ),
    ("only", r"\b(?:only|just|solely|focus on|limit(?:ed)? to|restrict(?:ed)? to|nur|ausschließlich)\b"),
)
_TOKEN = re.compile(
    "|".join([r"(?P<file>\x00\d+\x00)", *(f"(?P<{name}>{words})" for name, words in _CUES)]), re.IGNORECASE
)


@dataclass(frozen=True)
class Scope:
    """Which documents a plan is about: all of them, or `only` some, less those in `out`."""

    only: frozenset[str] = frozenset()
    out: frozenset[str] = frozenset()

    def keeps(self, path: str) -> bool:
        return path not in self.out and (not self.only or path in self.only)


def kind_of(request: str, documents: Sequence[str], feedback: Sequence[str]) -> Kind:
    """By the words of the request first, then by the files."""
    if not documents:
        return "inventory"
    for words in reversed(feedback):
        if asked := _INSTEAD.search(words):
            return _KINDS[(asked[1] or asked[2]).lower()]
    code = sum(bool(language(path)) for path in documents) / len(documents)
    named = sum(bool(_CONTRACT_NAME.search(path)) for path in documents) / len(documents)
    scores: dict[Kind, float] = {
        "review": 2.0 * len(_REVIEW.findall(request)) + named,
        "analysis": 2.0 * len(_ANALYSIS.findall(request)) + (2.5 if code > 0.5 else 0.0),
        "digest": 1.5 * len(_DIGEST.findall(request)) + 0.5,
    }
    return max(scores, key=lambda kind: scores[kind])


def wants_no_rehearsal(words: Sequence[str]) -> bool:
    return any(_NO_REHEARSAL.search(text) for text in words)


def documents_in(listed: Collection[str], previewed: Collection[str]) -> list[str]:
    """The files that look like text, by name or because a preview of them exists."""
    return sorted(path for path in listed if path in previewed or is_texty(path))


def narrowed(scope: Scope, words: str, paths: Collection[str]) -> Scope:
    """The scope after one piece of feedback: only files that are named in it change anything."""
    text, named = _marked(words, paths)
    for sentence in re.split(r"(?<=[.!?;])\s+|\n", text):
        tokens = list(_TOKEN.finditer(sentence))
        for index, token in enumerate(tokens):
            if token.lastgroup == "file":
                path = named[int(token[0].strip("\x00"))]
                scope = _applied(scope, _cue(tokens, index), path)
    return scope


def scope_in(description: str, paths: Collection[str], only: str, out: str) -> Scope:
    """Reads back the marker lines of a step's description."""
    scope = Scope()
    for line in description.split("\n"):
        named = frozenset(path for path in paths if f"`{path}`" in line)
        if line.startswith(only):
            scope = replace(scope, only=scope.only | named)
        elif line.startswith(out):
            scope = replace(scope, out=scope.out | named)
    return scope


def _marked(words: str, paths: Collection[str]) -> tuple[str, list[str]]:
    """The words with each file they name replaced by a mark; a base name counts when only one file has it."""
    names: dict[str, str] = {}
    for path in sorted(paths):
        names[path.casefold()] = path
        short = basename(path).casefold()
        if sum(basename(other).casefold() == short for other in paths) == 1:
            names.setdefault(short, path)
    found: list[str] = []
    text = words.replace("\x00", " ")
    for name in sorted(names, key=lambda item: (-len(item), item)):
        if name not in text.casefold():
            continue
        text, count = re.subn(
            rf"(?<![\w/.-])`?{re.escape(name)}`?(?![\w/-])",
            f"\x00{len(found)}\x00",
            text,
            flags=re.IGNORECASE,
        )
        if count:
            found.append(names[name])
    return text, found


def _cue(tokens: Sequence[re.Match[str]], index: int) -> str:
    before = [str(token.lastgroup) for token in tokens[:index] if token.lastgroup != "file"]
    after = [str(token.lastgroup) for token in tokens[index:] if token.lastgroup != "file"]
    return before[-1] if before else (after[0] if after else "")


def _applied(scope: Scope, cue: str, path: str) -> Scope:
    if cue == "only":
        return Scope(scope.only | {path}, scope.out - {path})
    if cue == "out":
        return Scope(scope.only - {path}, scope.out | {path})
    if cue == "keep":
        return Scope((scope.only | {path}) if scope.only else scope.only, scope.out - {path})
    return scope
