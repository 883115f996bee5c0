"""Decides whether HTML is a page that people read, such as an export of a word processor, or the source of a web
project.

Of a page, the text counts; of a source, each tag does, because a person may ask to change it. In doubt it is a source.
It always is one if it needs files or programs of a project, or is a template.
"""

import re
from typing import NamedTuple

MIN_WORDS = 20
"""Words of a page without a generator mark. A shorter page is easily read with its tags."""
_MARK_BYTES = 4_096  # of a page that are searched for the mark of a program
_SAVED = re.compile(
    rb"<!--\s*saved from url=|page saved with singlefile|urn:schemas-microsoft-com:office"
    rb"|name=[\"']?generator[\"']?\s+content=[\"']?(?:microsoft|libreoffice)"
    rb"|themes\.googleusercontent\.com/fonts|\.lst-kix_|ol\{margin:0;padding:0\}table td",
    re.IGNORECASE,
)
"""Matches what browsers, word processors and Google Docs write into pages that they save."""
_TEMPLATE = re.compile(rb"<\?php|\{%|\{\{|<%")
_FILLED_IN = re.compile(
    rb"\$\{|<!--#|\*\||<[^<>]{1,300}\s(?:v-[a-z]+|x-data|ng-[a-z]+|th:[a-z]+|hx-[a-z]+|data-react[a-z]*|[@:][a-z]+)="
)
"""Matches placeholders of programs and frameworks that fill in a page."""
_BEGINS = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<\?xml[^<>]{0,200}\?>|<!--(?>[^-]|-(?!->)){0,4000}-->)*+<(?:!doctype\s+html|html)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(rb"<!--|-->|<(/?)([a-z][a-z0-9]*)([^<>]*)>?|<", re.IGNORECASE)
_UNSEEN = frozenset({b"script", b"style", b"noscript", b"template", b"svg", b"select", b"textarea", b"title"})
_GENERATOR = re.compile(rb"name\s*=\s*[\"']?generator\b", re.IGNORECASE)
_STYLED = re.compile(rb"\sstyle\s*=|\sclass\s*=\s*[\"']?[a-z]\d+\b", re.IGNORECASE)
"""Matches styles on each paragraph, and numbered classes, which no one writes by hand."""
_OF_A_PROJECT = re.compile(
    rb"type\s*=\s*[\"']?module|rel\s*=\s*[\"']?(?:manifest|modulepreload)"
    rb"|(?:src|href)\s*=\s*[\"']?(?!https?:|//|data:|cid:|[^\"'\s>]*_files/)[^\"'\s>]",
    re.IGNORECASE,
)
"""Scripts, styles and icons next to the page. Those that a browser saves with it are in a folder `…_files`."""
_PARAGRAPHS = frozenset({b"p", b"td", b"li", b"div", b"span"})


def is_page_to_read(head: bytes) -> bool:
    """Whether a content that begins like this is a page to read. Some ten thousand bytes are enough to decide."""
    if _TEMPLATE.search(head):
        return False
    if _SAVED.search(head[:_MARK_BYTES]):
        return True
    if not _BEGINS.match(head) or _FILLED_IN.search(head):
        return False
    seen = _count(head)
    is_exported = seen.has_generator or 2 * seen.styled >= seen.paragraphs > 0
    return (
        not seen.of_a_project and seen.words >= MIN_WORDS and seen.scripted <= (seen.characters if is_exported else 0)
    )


class _PageCounts(NamedTuple):
    """Counts of a page: visible words and characters, characters of scripts, paragraphs, and
    paragraphs with a style.
    """

    words: int
    characters: int
    scripted: int
    paragraphs: int
    styled: int
    has_generator: bool
    of_a_project: bool


def _count(head: bytes) -> _PageCounts:
    """Counts in one pass, because the beginning may be hostile."""
    words = characters = scripted = paragraphs = styled = at = 0
    has_generator = of_a_project = in_body = False
    within = b""
    for token in _TOKEN.finditer(head):
        text, at = head[at : token.start()], token.end()
        if within == b"script":
            scripted += len(text)
        elif in_body and not within:
            words += len(text.split())
            characters += len(text)
        end, tag, attributes = token[1], (token[2] or b"").lower(), token[3] or b""
        if token[0] == b"<!--":
            within = within or token[0]
        elif within:
            closes = token[0] == b"-->" if within == b"<!--" else bool(end) and tag == within
            within = b"" if closes else within
        elif tag in _UNSEEN and not end:
            within = b"" if attributes.endswith(b"/") else tag
        in_body |= tag == b"body"
        if not end and within in {b"", tag}:
            has_generator |= tag == b"meta" and bool(_GENERATOR.search(attributes))
            of_a_project |= tag in {b"script", b"link"} and bool(_OF_A_PROJECT.search(attributes))
            paragraphs += tag in _PARAGRAPHS
            styled += tag in _PARAGRAPHS and bool(_STYLED.search(attributes))
    return _PageCounts(words, characters, scripted, paragraphs, styled, has_generator, of_a_project)
