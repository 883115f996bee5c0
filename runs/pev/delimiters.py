"""The delimiters around data in prompts, so that no document can pretend to be an instruction.

A delimiter carries a tag: an HMAC of its content with a key of this installation. Only this installation can make a
delimiter, so no content can close its own block or begin one that looks real, whatever its author computes. The same
content has the same tag in every process with this key, so that prompts stay the same and can be cached.
`find` reads the blocks back; the rehearsal uses it.
"""

import hmac
import html
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from runs.contracts.base import PERSON
from runs.contracts.feedback import AnsweredQuestion
from runs.contracts.ports import FileInfo
from runs.text.plural import pluralize, word_for
from runs.text.truncate import boundary

LISTED_FILES = 400
"""Some 6,000 tokens of every prompt. A model that needs more files lists them with a tool."""
NOTES_CHARS = 4_000
"""Of the notes of one attempt. They are shown next to its findings, which are shown in full."""

_LISTED = re.compile(r"- (.+) \(\d+ bytes\)(?:: |$)")
_OPEN = re.compile(r"^<(?P<kind>[a-z_]+)-(?P<tag>[0-9a-f]{16})(?: name=\"(?P<name>[^\"\n]*)\")?>\n", re.MULTILINE)

_key = secrets.token_bytes(32)


def use_key(key: bytes) -> None:
    """Uses this key for all tags from now on. Without a key, tags are valid in this process only."""
    global _key
    _key = key


@dataclass(frozen=True)
class DelimitedBlock:
    kind: str
    name: str
    text: str


def delimited(kind: str, text: str, name: str = "") -> str:
    """`text` between two lines that nothing in it can imitate. The same input gives the same bytes."""
    tag = hmac.digest(_key, f"{kind}\0{name}\0{text}".encode(), "sha256").hex()[:16]
    label = f' name="{_attribute(name)}"' if name else ""
    return f"<{kind}-{tag}{label}>\n{text}\n</{kind}-{tag}>"


def beginning_of(text: str, limit: int) -> str:
    """Returns the text, or its first characters and a line that says that it was cut."""
    end = boundary(text, limit)
    return text if end == len(text) else f"{text[:end]}\n(cut here; {len(text) - end} characters more)"


def results_with_notes(results: Mapping[str, str], notes: Mapping[str, str]) -> Iterator[str]:
    """Yields a block for the findings of each step, and one for its notes, if there are any."""
    for name, text in results.items():
        yield delimited("result", text, name)
        if note := notes.get(name, "").strip():
            yield delimited("notes", beginning_of(note, NOTES_CHARS), name)


def answered(answers: Iterable[AnsweredQuestion]) -> Iterator[str]:
    """Yields a block for each question that a model has asked a person, and one for the answer."""
    for one in answers:
        source = f"{PERSON}{one.number}"
        yield delimited("question", one.question, source)
        yield delimited("person", one.words, source)


def listing(files: Mapping[str, FileInfo], remarks: Mapping[str, str] | None = None) -> str:
    """Lists the files with their sizes, one per line, such as `- lease.txt (107 bytes)`, with remarks. It says how many
    are left out.

    The hyphen keeps small models from taking the delimiter above for a folder.
    """
    notes = {path: f": {remark}" for path, remark in (remarks or {}).items()}
    lines = [f"- {path} ({info.size} bytes){notes.get(path, '')}" for path, info in islice(files.items(), LISTED_FILES)]
    if (more := len(files) - LISTED_FILES) > 0:
        lines.append(f"… and {pluralize(more, 'more file')}; list_files shows {word_for(more, 'it', 'them')}")
    return "\n".join(lines) or "(no files)"


def listed_in(listing: str) -> list[str]:
    """Returns the paths in a text that `listing` made."""
    return [found[1] for line in listing.split("\n") if (found := _LISTED.match(line))]


def find(text: str) -> list[DelimitedBlock]:
    """Returns the outermost blocks of a prompt, in order. An opening line without a closing one is not a block."""
    found = []
    position = 0
    while match := _OPEN.search(text, position):
        kind, tag = match["kind"], match["tag"]
        end = text.find(f"\n</{kind}-{tag}>", match.end() - 1)
        if end < 0:
            position = match.end()
            continue
        inner = text[match.end() : end] if end >= match.end() else ""
        found.append(DelimitedBlock(kind, html.unescape(match["name"] or ""), inner))
        position = end
    return found


def _attribute(name: str) -> str:
    return html.escape(name.replace("\n", " "))
