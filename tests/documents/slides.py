"""PowerPoint presentations, as the XML that is in them."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.documents.workbooks import related, zipped

_NAMES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)


def presentation(
    slides: Sequence[str],
    *,
    hidden: Sequence[int] = (),
    relations: Mapping[int, Sequence[tuple[str, str, str]]] | None = None,
    parts: Mapping[str, str] | None = None,
) -> bytes:
    """`slides`: what is inside each tree of shapes. `relations`: of a slide, as `related` takes them. `parts`: more
    parts of the file, or others instead.
    """
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in range(1, len(slides) + 1))
    everything = {
        "_rels/.rels": related([("rId1", "officeDocument", "ppt/presentation.xml")]),
        "ppt/presentation.xml": named("p:presentation", f"<p:sldIdLst>{ids}</p:sldIdLst>"),
        "ppt/_rels/presentation.xml.rels": related(
            [(f"rId{n}", "slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1)]
            + [("rIdA", "commentAuthors", "commentAuthors.xml"), ("rIdB", "authors", "authors.xml")]
        ),
    }
    for number, shapes in enumerate(slides, 1):
        tree = f"<p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree></p:cSld>"
        show = ' show="0"' if number in hidden else ""
        everything[f"ppt/slides/slide{number}.xml"] = named("p:sld", tree, show)
        if relations and number in relations:
            everything[f"ppt/slides/_rels/slide{number}.xml.rels"] = related(relations[number])
    return zipped(everything | dict(parts or {}))


def named(tag: str, inside: str, attributes: str = "") -> str:
    """A part whose root is `tag`."""
    return f'<?xml version="1.0"?><{tag} {_NAMES}{attributes}>{inside}</{tag}>'


def shape(*lines: str, place: str = "", levels: Mapping[int, int] | None = None, hidden: bool = False) -> str:
    """A shape with a paragraph for each line; `levels` of some of them, by number from 0."""
    paragraphs = "".join(
        f'<a:p><a:pPr lvl="{(levels or {}).get(number, 0)}"/><a:r><a:t>{escape(line)}</a:t></a:r></a:p>'
        for number, line in enumerate(lines)
    )
    kind = f'<p:ph type="{place}"/>' if place else ""
    name = f'<p:cNvPr id="1" name="x"{" hidden='1'" if hidden else ""}/>'
    return f"<p:sp><p:nvSpPr>{name}<p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>"


def table(*rows: Sequence[str]) -> str:
    lines = "".join(
        "<a:tr>"
        + "".join(f"<a:tc><a:txBody><a:p><a:r><a:t>{cell}</a:t></a:r></a:p></a:txBody></a:tc>" for cell in row)
        + "</a:tr>"
        for row in rows
    )
    return (
        f"<p:graphicFrame><a:graphic><a:graphicData><a:tbl>{lines}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )
