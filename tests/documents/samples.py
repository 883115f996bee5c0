"""Makes the samples that are documents, out of the texts in `contracts/`: `python -m tests.documents.samples [FOLDER]`.

They ship made; their maker stays with the makers of other documents, and a test holds them to it. Tracked changes and
comments stand in the texts as CriticMarkup: {++new++}, {--old--}, {==words==}{>>comment<<}.
"""

import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

import typst

from tests.documents import word

SOURCES = Path(__file__).parent / "contracts"
SHIPPED = Path(__file__).parents[2] / "runs/samples/contracts"
SERVICE, PROCESSING = "Service agreement", "data-processing-agreement"
_CHANGED_BY = (
    'w:author="Kerstin Albers" w:date="2026-03-09T16:20:00Z"',
    'w:author="Imran Pryce" w:date="2026-03-11T08:30:00Z"',
)
"""Who made each of the changes, in turn."""
_COMMENTED_BY = 'w:author="Imran Pryce" w:date="2026-03-11T08:45:00Z" w:initials="IP"'
_BLOCK = re.compile(r"(?P<title># )|(?P<heading>## )\d+\. |(?P<clause>\d+\.\d+ )|")
_INLINE = re.compile(
    r"\*\*(?P<bold>.+?)\*\*|\{\+\+(?P<new>.+?)\+\+\}|\{--(?P<old>.+?)--\}|"
    r"\{==(?P<about>.+?)==\}\{>>(?P<comment>.+?)<<\}|(?P<plain>.+?)(?=\*\*|\{\+\+|\{--|\{==|\Z)"
)
_TWO_COLUMNS = """
#set document(date: none, title: sys.inputs.title)
#set page(paper: "a4", columns: 2, margin: (x: 24mm, y: 28mm))
#set text(font: "Libertinus Serif", size: 11.5pt, hyphenate: false, lang: "en")
#set par(justify: true, leading: 0.65em, spacing: 0.95em)
#show regex("\\w+(-\\w+)+"): it => box(it)
#let inline(parts) = for part in parts { if part.bold { strong(part.text) } else { part.text } }
#for block in json(bytes(sys.inputs.blocks)) {
  if block.kind == "title" {
    place(top + center, scope: "parent", float: true, clearance: 1.6em, text(18pt, inline(block.parts)))
  } else if block.kind == "heading" {
    v(0.5em) + par(text(13pt, strong(block.number + inline(block.parts))))
  } else { par(block.number + inline(block.parts)) }
}
"""
_STYLES = (
    '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Georgia" w:hAnsi="Georgia"/><w:sz w:val="21"/>'
    '<w:lang w:val="en-GB"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="276"/>'
    "</w:pPr></w:pPrDefault></w:docDefaults>"
    + word.style("Title", '<w:spacing w:after="360"/>', runs='<w:sz w:val="36"/>')
    + word.style("Heading1", '<w:keepNext/><w:spacing w:before="240"/>' + word.numbered_by(1, 0), runs="<w:b/>")
    + word.style("Clause", word.numbered_by(1, 1))
)
_HANGING = '<w:pPr><w:ind w:left="680" w:hanging="680"/></w:pPr>'
_NUMBERING = word.lists({1: [word.level(0, "decimal", "%1.", _HANGING), word.level(1, "decimal", "%1.%2", _HANGING)]})
_TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_CONTENT_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_TYPES}document.main+xml"/>'
    + "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_TYPES}{name}+xml"/>'
        for name in ("styles", "numbering", "comments")
    )
    + "</Types>"
)


class Paragraph(NamedTuple):
    """`number` is what stands before it in the source, such as "2.1 "."""

    kind: str
    number: str
    text: str


def documents() -> Mapping[str, bytes]:
    """The samples that are documents, by name."""
    return {f"{SERVICE}.docx": docx(SERVICE), f"{PROCESSING}.pdf": pdf(PROCESSING)}


def texts() -> Mapping[str, bytes]:
    """The samples as Markdown, with the changes and without the comments, by the names of their sources."""
    markup = re.compile(r"\{--.+?--\}|\{>>.+?<<\}|\{\+\+|\+\+\}|\{==|==\}")
    files = sorted([*SOURCES.iterdir(), *SHIPPED.glob("*.md")], key=lambda file: file.name)
    return {file.name: markup.sub("", file.read_text(encoding="utf-8")).encode() for file in files}


def paragraphs(name: str) -> Iterator[Paragraph]:
    for part in (SOURCES / f"{name}.md").read_text(encoding="utf-8").split("\n\n"):
        line = " ".join(part.split())
        if found := _BLOCK.match(line):
            yield Paragraph(found.lastgroup or "plain", found[0].lstrip("# "), line[found.end() :])


def docx(name: str) -> bytes:
    """Numbers of clauses are those of a list, and are not in the text."""
    styles = {"title": "Title", "heading": "Heading1", "clause": "Clause"}
    comments: list[str] = []
    changes = count()
    body = "".join(
        word.paragraph(*_runs(one.text, comments, changes), style=styles.get(one.kind, "")) for one in paragraphs(name)
    )
    package = word.word(body, {"styles": _STYLES, "numbering": _NUMBERING, "comments": "".join(comments)})
    return _stored({"[Content_Types].xml": _CONTENT_TYPES.encode(), **_contents(package)})


def _runs(text: str, comments: list[str], changes: Iterator[int]) -> Iterator[str]:
    """`changes` counts them: one of words into others by two numbers, so that one person makes both."""
    for part in _INLINE.finditer(text):
        if part["new"] or part["old"]:
            number = next(changes)
            change = f'w:id="{100 + number}" {_CHANGED_BY[number // 2 % len(_CHANGED_BY)]}'
            inside = word.run(part["new"] or part["old"])
            gone = inside.replace("w:t ", "w:delText ").replace("w:t>", "w:delText>")
            yield f"<w:ins {change}>{inside}</w:ins>" if part["new"] else f"<w:del {change}>{gone}</w:del>"
        elif part["comment"]:
            yield word.commented(part["about"], len(comments))
            inside = word.paragraph(part["comment"])
            comments.append(f'<w:comment w:id="{len(comments)}" {_COMMENTED_BY}>{inside}</w:comment>')
        else:
            yield word.run(part["bold"] or part["plain"], "<w:b/>" if part["bold"] else "")


def _contents(package: bytes) -> Mapping[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(package)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def _stored(contents: Mapping[str, bytes]) -> bytes:
    """Not packed and without a time: the same bytes on every machine."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as package:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name)
            entry.create_system = 0
            package.writestr(entry, content)
    return file.getvalue()


def pdf(name: str) -> bytes:
    """In two columns, on two pages."""
    blocks = [
        {
            "kind": one.kind,
            "number": one.number,
            "parts": [
                {"text": part["bold"] or part["plain"], "bold": bool(part["bold"])}
                for part in _INLINE.finditer(one.text)
            ],
        }
        for one in paragraphs(name)
    ]
    given = {"title": blocks[0]["parts"][0]["text"], "blocks": json.dumps(blocks)}  # type: ignore[index]
    result: bytes = typst.compile(_TWO_COLUMNS.encode(), ignore_system_fonts=True, sys_inputs=given)
    return result


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED
    for file, data in documents().items():
        (folder / file).write_bytes(data)
