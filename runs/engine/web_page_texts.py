"""Reads the text of web pages, in isolated processes like uploads."""

from runs import isolation
from runs.documents import encodings
from runs.documents.content import text_of
from runs.documents.file_kinds import HEAD_BYTES, TAIL_BYTES, kind_of
from runs.documents.formats import FORMATS, pdf
from runs.documents.model.layout import Rendered
from runs.documents.packed_parts import packed, unpacked
from runs.documents.places.document import Document
from runs.documents.places.views import own_text
from runs.errors import InvalidInput
from runs.http_client import http_fetch
from runs.isolation import ChildFailed

_BY_MEDIA_TYPE = {media_type: name for name, form in FORMATS.items() for media_type in form.media_types}
_PDF = "application/pdf"


def text_of_page(found: http_fetch.Fetched) -> str:
    """The text of a page. Raises InvalidInput if it has no text that can be read."""
    kind = kind_of(found.data[:HEAD_BYTES], found.data[-TAIL_BYTES:])
    form = _BY_MEDIA_TYPE.get(found.media, kind.format)
    if form and not FORMATS[form].is_fetched:
        raise InvalidInput(f"{found.address} is {FORMATS[form].title}; only text is read.")
    if kind.problem and not form:
        raise InvalidInput(f"{found.address} {kind.problem}.")
    try:
        return _document_text(found, form) if form else _plain_text(found)
    except ValueError as error:  # a process that a hostile page has taken over may return anything
        raise InvalidInput(f"{found.address} was answered by its reader with what cannot be used.") from error


def text_of_pdf(address: str, data: bytes) -> str:
    """The text of a PDF that a model's service has read at this address. Raises InvalidInput, also for other files."""
    if kind_of(data[:HEAD_BYTES], data[-TAIL_BYTES:]).format != pdf.FORMAT.name:
        raise InvalidInput(f"{address} is not a PDF file, although the service says so.")
    return text_of_page(http_fetch.Fetched(address, _PDF, data))


def _document_text(found: http_fetch.Fetched, form: str) -> str:
    """The text of a document as people see it, without comments and hidden text."""
    reader = FORMATS[form]
    if not reader.function:
        raise InvalidInput(f"{found.address} is {reader.title}, which is not read.")
    header, payload = _run_isolated(found, reader.function, found.data, reader.limits)
    return own_text(Document(payload.decode(), Rendered.model_validate_json(header).layout)).replace("\0", "")


def _plain_text(found: http_fetch.Fetched) -> str:
    text = text_of(found.data)
    if text is None:
        codec, payload, _ = _run_isolated(found, f"{encodings.__name__}.read_all", packed([found.data]))
        if not codec:
            raise InvalidInput(f"{found.address} {payload.decode()}.")
        text = payload.decode()
    return text.replace("\r\n", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _run_isolated(
    found: http_fetch.Fetched, function: str, data: bytes, limits: isolation.Limits | None = None
) -> list[bytes]:
    try:
        return list(unpacked(isolation.run(function, data, limits)))
    except InvalidInput as error:
        raise InvalidInput(f"{found.address} {error}.") from error
    except ChildFailed as error:
        raise InvalidInput(f"{found.address} is more than its reader can do: {error}.") from error
