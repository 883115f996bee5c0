"""Word files from their XML: nothing stands between a test and what it says of numbers, changes and comments."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from html import escape

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
NAMESPACES = (
    f'xmlns:w="{_W}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"'
)
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def run(text: str, properties: str = "") -> str:
    inside = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{inside}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*content: str, style: str = "", number: tuple[int, int] | None = None, properties: str = "") -> str:
    """Content that is no XML is a run of text. `number`: the id of a list and the level in it."""
    inside = f'<w:pStyle w:val="{style}"/>' if style else ""
    if number:
        inside += f'<w:numPr><w:ilvl w:val="{number[1]}"/><w:numId w:val="{number[0]}"/></w:numPr>'
    inside += properties
    runs = "".join(one if one.startswith("<") else run(one) for one in content)
    return f"<w:p><w:pPr>{inside}</w:pPr>{runs}</w:p>"


def inserted(text: str, by: str = "Ann", on: str = "2026-03-01T10:00:00Z", tag: str = "ins") -> str:
    return f'<w:{tag} w:id="1" w:author="{by}" w:date="{on}">{run(text)}</w:{tag}>'


def deleted(text: str, by: str = "Bob", on: str = "2026-03-02T10:00:00Z", tag: str = "del") -> str:
    inside = run(text).replace("<w:t ", "<w:delText ").replace("</w:t>", "</w:delText>")
    return f'<w:{tag} w:id="1" w:author="{by}" w:date="{on}">{inside}</w:{tag}>'


def deleted_mark(by: str = "Bob", on: str = "2026-03-02T10:00:00Z") -> str:
    """For the properties of a paragraph."""
    return f'<w:rPr><w:del w:id="1" w:author="{by}" w:date="{on}"/></w:rPr>'


def field(code: str, result: str = "", *, is_simple: bool = False) -> str:
    """A field of Word with its code; without a result as Word writes those that have none."""
    if is_simple:
        return f'<w:fldSimple w:instr="{escape(code)}">{run(result) if result else ""}</w:fldSimple>'
    shown = f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run(result)}' if result else ""
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> {escape(code)} '
        f'</w:instrText></w:r>{shown}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def bookmark(name: str, inside: str = "") -> str:
    return f'<w:bookmarkStart w:id="1" w:name="{name}"/>{inside}<w:bookmarkEnd w:id="1"/>'


def commented(text: str, comment: int) -> str:
    return (
        f'<w:commentRangeStart w:id="{comment}"/>{run(text)}<w:commentRangeEnd w:id="{comment}"/>'
        f'<w:r><w:commentReference w:id="{comment}"/></w:r>'
    )


def table(*rows: Sequence[str]) -> str:
    """Cells with their contents: paragraphs, or text for one paragraph."""
    cells = [
        [f"<w:tc><w:tcPr/>{cell if cell.startswith('<') else paragraph(cell)}</w:tc>" for cell in row] for row in rows
    ]
    return f"<w:tbl><w:tblPr/>{''.join(f'<w:tr>{"".join(row)}</w:tr>' for row in cells)}</w:tbl>"


def text_box(*paragraphs: str) -> str:
    """As Word writes it: once for itself, and once more for older programs."""
    inside = f"<w:txbxContent>{''.join(paragraphs)}</w:txbxContent>"
    return (
        '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:wsp>'
        f"<wps:txbx>{inside}</wps:txbx></wps:wsp></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>{inside}</v:textbox></v:shape></w:pict>"
        "</mc:Fallback></mc:AlternateContent></w:r>"
    )


def note(kind: str, number: int) -> str:
    """What refers to a footnote or an endnote."""
    return f'<w:r><w:{kind}Reference w:id="{number}"/></w:r>'


def level(index: int, style: str, text: str, more: str = "", start: int = 1) -> str:
    """A level of a list: the style of its numbers, and what they look like."""
    return (
        f'<w:lvl w:ilvl="{index}"><w:start w:val="{start}"/><w:numFmt w:val="{style}"/>'
        f'<w:lvlText w:val="{text}"/>{more}</w:lvl>'
    )


def lists(definitions: Mapping[int, Sequence[str]], numbers: Mapping[int, tuple[int, str]] | None = None) -> str:
    """The numbering part: definitions by their ids, and lists by theirs, each with its definition and its overrides.
    Without any, each definition has a list of the same id.
    """
    abstract = "".join(
        f'<w:abstractNum w:abstractNumId="{key}">{"".join(levels)}</w:abstractNum>'
        for key, levels in definitions.items()
    )
    nums = "".join(
        f'<w:num w:numId="{key}"><w:abstractNumId w:val="{of}"/>{overrides}</w:num>'
        for key, (of, overrides) in (numbers or {key: (key, "") for key in definitions}).items()
    )
    return abstract + nums


def start_override(index: int, start: int) -> str:
    return f'<w:lvlOverride w:ilvl="{index}"><w:startOverride w:val="{start}"/></w:lvlOverride>'


def style(name: str, properties: str = "", based_on: str = "", kind: str = "paragraph", runs: str = "") -> str:
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return (
        f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{name}"/>{base}'
        f"<w:pPr>{properties}</w:pPr><w:rPr>{runs}</w:rPr></w:style>"
    )


def numbered_by(number: int | None = None, index: int | None = None) -> str:
    """For the properties of a style."""
    inside = "" if index is None else f'<w:ilvl w:val="{index}"/>'
    inside += "" if number is None else f'<w:numId w:val="{number}"/>'
    return f"<w:numPr>{inside}</w:numPr>"


def part(root: str, inside: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{root} {NAMESPACES}>{inside}</w:{root}>'.encode()


def word(body: str, parts: Mapping[str, str] | None = None, rewritten: Callable[[bytes], bytes] = bytes) -> bytes:
    """A Word file. `parts` are more of them: `numbering`, `styles`, `settings`, `comments`, `footnotes`, `endnotes`,
    `header` and `footer`; `rewritten` changes the bytes of each.
    """
    roots = {"header": "hdr", "footer": "ftr"}
    names = {name: part(roots.get(name, name), inside) for name, inside in (parts or {}).items()}
    relations = "".join(
        f'<Relationship Id="r{at}" Type="{_KINDS}/{name}" Target="{name}.xml"/>' for at, name in enumerate(names)
    )
    contents = {
        "_rels/.rels": _relations(f'<Relationship Id="r1" Type="{_KINDS}/officeDocument" Target="word/document.xml"/>'),
        "word/_rels/document.xml.rels": _relations(relations),
        "word/document.xml": part("document", f"<w:body>{body}</w:body>"),
        **{f"word/{name}.xml": content for name, content in names.items()},
    }
    return zipped({name: rewritten(content) for name, content in contents.items()})


def _relations(inside: str) -> bytes:
    return f'<Relationships xmlns="{_RELATIONS}">{inside}</Relationships>'.encode()


def zipped(contents: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in contents.items():
            package.writestr(name, content)
    return file.getvalue()
