"""OpenDocument texts: the text as it is when all tracked changes are accepted, then its notes, comments and margins."""

from collections.abc import Iterator

from runs.documents.formats.odt import FORMAT
from runs.documents.formats.odt.numbering import DC, OFFICE, STYLE, TEXT, Styles
from runs.documents.formats.odt.story import Change, Later, Place, Story
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder, BuiltDocument
from runs.documents.reading.package_parts import NEEDS_PASSWORD, Element, Package
from runs.errors import InvalidInput

_NOTES = {"footnote": ("fn", BlockKind.FOOTNOTE), "endnote": ("en", BlockKind.ENDNOTE)}


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """Numbers of lists and headings are those that the file holds, and counted where it holds none."""
    package = Package(data)
    if b"encryption-data" in (package.read("META-INF/manifest.xml") or b""):
        raise InvalidInput(NEEDS_PASSWORD)
    content, styles = package.xml("content.xml"), package.xml("styles.xml")
    body = content.find(f"{OFFICE}body/{OFFICE}text") if content is not None else None
    if content is None or body is None:
        raise InvalidInput("is no OpenDocument text, or a damaged one; open it and save it again, or save it as .docx")
    builder = Builder(FORMAT.name)
    hidden = {name for root in (content, styles) if root is not None for name in _hidden_styles(root)}
    story = Story(builder, Styles(content, styles), hidden, _changes(body))
    main = Place("", BlockKind.PARAGRAPH)
    story.walk(body, main)
    for name, (prefix, kind) in _NOTES.items():
        _add_notes(story, [one for one in story.later if one.kind == name], prefix, kind)
    _add_comments(builder, story)
    for kind, prefix in ((BlockKind.HEADER, "hd"), (BlockKind.FOOTER, "ft")):
        for number, part in enumerate(_margins(styles, kind), 1):
            story.walk(part, Place(f"{prefix}{number}.", kind))
    return builder.made(FORMAT.unit, main.paragraphs)


def _hidden_styles(root: Element) -> Iterator[str]:
    """The names of styles whose text is not shown."""
    for style in root.iter(f"{STYLE}style"):
        properties = style.find(f"{STYLE}text-properties")
        if properties is not None and properties.get(f"{TEXT}display") == "none":
            yield style.get(f"{STYLE}name", "")


def _changes(body: Element) -> dict[str, Change]:
    """What the tracked changes are, by the names with which the text refers to them."""
    found: dict[str, Change] = {}
    for region in body.iter(f"{TEXT}changed-region"):
        name = region.get(f"{TEXT}id") or region.get("{http://www.w3.org/XML/1998/namespace}id", "")
        for kind in ("insertion", "deletion"):
            change = region.find(f"{TEXT}{kind}")
            if change is not None:
                by, on = (change.find(f"{OFFICE}change-info/{DC}{what}") for what in ("creator", "date"))
                paragraphs = ["".join(_all_text(one)) for one in change.iter(f"{TEXT}p", f"{TEXT}h")]
                found[name] = Change(
                    kind == "deletion", "\n".join(paragraphs), _text_of(by), _text_of(on), is_open=False
                )
    return found


def _text_of(element: Element | None) -> str:
    return (element.text or "") if element is not None else ""


def _all_text(element: Element) -> Iterator[str]:
    """Of what was deleted, which nothing else is said of."""
    for one in element.iter():
        yield one.text or ""
        if one is not element:
            yield one.tail or ""


def _add_notes(story: Story, notes: list[Later], prefix: str, kind: BlockKind) -> None:
    for number, note in enumerate(notes, 1):
        body = note.element.find(f"{TEXT}note-body")
        sign = note.element.find(f"{TEXT}note-citation")
        if body is not None:
            story.walk(body, Place(f"{prefix}{number}.", kind, label=_text_of(sign)))


def _add_comments(builder: Builder, story: Story) -> None:
    """Each with a mark on the words that it is about, or on the character before it."""
    for number, comment in enumerate([one for one in story.later if one.kind == "comment"], 1):
        place = Place(f"cm{number}.", BlockKind.COMMENT)
        story.walk(comment.element, place)
        by, on = (_text_of(comment.element.find(f"{DC}{what}")) for what in ("creator", "date"))
        end = max(comment.end, comment.start)
        start = comment.start if end > comment.start else max(comment.start - 1, 0)
        builder.mark(MarkKind.COMMENTED, start, end, by=by, on=on, note=place.first)


def _margins(styles: Element | None, kind: BlockKind) -> list[Element]:
    return list(styles.iter(f"{STYLE}{kind.value}")) if styles is not None else []
