"""Pages of the web for models: which sites they may read, how many, and what their bytes say as text."""

from collections.abc import Callable
from datetime import UTC, datetime

from django.conf import settings

from runs import fetching, guarded
from runs.documents import encodings, kinds
from runs.documents.formats import FORMATS, function_of
from runs.documents.kinds import HEAD_BYTES, TAIL_BYTES, kind_of
from runs.documents.packing import packed, unpacked
from runs.engine.database import database
from runs.engine.recording import Recording
from runs.errors import InvalidInput
from runs.guarded import ChildFailed
from runs.models import ToolCall
from runs.pev.documents.document import Document
from runs.pev.documents.layout import Rendered
from runs.pev.documents.views import own_text
from runs.pev.files.paths import text_of
from runs.pev.ports import Page
from runs.pev.texts.domains import sites
from runs.pev.tools.fetching import FetchPage

_HTML = frozenset({"text/html", "application/xhtml+xml"})


class WebPages:
    """Implements `pev.ports.Pages` for one attempt, in which a page is asked for once: what is read on in parts is one
    page. What was read before a crash is in the journal.
    """

    def __init__(self, recording: Recording) -> None:
        self._run = recording.item.run
        self._keep_going: Callable[[], None] = recording.lease.check
        self._read: dict[str, Page] = {}

    def read(self, address: str) -> Page:
        if address not in self._read:
            self._check_count()
            found = fetching.fetch(address, self._check_site, self._keep_going)
            self._read[address] = Page(found.address, datetime.now(UTC), _text_of(found))
        return self._read[address]

    def _check_count(self) -> None:
        """Calls that gave a page count, also those that read on."""
        most = self._run.policy.web_pages
        calls = ToolCall.objects.filter(run=self._run, name=FetchPage.name, is_error=False)
        if database.call(calls.count) >= most:
            raise InvalidInput(f"The policy of this run allows {most:,} pages of the web, and they are used up.")

    def _check_site(self, host: str) -> None:
        chosen, allowed = sites(self._run.policy.web), sites(settings.WEB)
        if not chosen.has(host):
            raise InvalidInput(f"This run may not read {host}. It may read {chosen.words or 'no site'}.")
        if not allowed.has(host):
            raise InvalidInput(f"This installation may not read {host}. It may read {allowed.words or 'no site'}.")


def web_pages(recording: Recording) -> WebPages | None:
    """Those that models may read; None where the installation or the policy has no sites."""
    return WebPages(recording) if settings.WEB and recording.item.run.policy.web else None


def _text_of(found: fetching.Fetched) -> str:
    """Raises InvalidInput for what has no text that can be read."""
    kind = kind_of(found.data[:HEAD_BYTES], found.data[-TAIL_BYTES:])
    form = kinds.HTML if found.media in _HTML else kind.format
    if form == kinds.IMAGE:
        raise InvalidInput(f"{found.address} is a picture; only text is read.")
    if kind.problem and not form:
        raise InvalidInput(f"{found.address} {kind.problem}.")
    try:
        return _read(found, form) if form else _plain(found)
    except ValueError as error:  # a process that a hostile page has taken over may answer anything
        raise InvalidInput(f"{found.address} was answered by its reader with what cannot be used.") from error


def _read(found: fetching.Fetched, form: str) -> str:
    """What people see of it: no comments, and nothing that is hidden."""
    reader = function_of(form)
    if not reader:
        raise InvalidInput(f"{found.address} is {FORMATS[form].name}, which is not read.")
    header, payload = _guarded(found, reader, found.data, FORMATS[form].limits)
    return own_text(Document(payload.decode(), Rendered.model_validate_json(header).layout)).replace("\0", "")


def _plain(found: fetching.Fetched) -> str:
    text = text_of(found.data)
    if text is None:
        codec, payload = _guarded(found, f"{encodings.__name__}.read_all", packed([found.data]))
        if not codec:
            raise InvalidInput(f"{found.address} {payload.decode()}.")
        text = payload.decode()
    return text.replace("\r\n", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _guarded(
    found: fetching.Fetched, function: str, data: bytes, limits: guarded.Limits | None = None
) -> tuple[bytes, bytes]:
    try:
        first, second = unpacked(guarded.run(function, data, limits))
    except InvalidInput as error:
        raise InvalidInput(f"{found.address} {error}.") from error
    except ChildFailed as error:
        raise InvalidInput(f"{found.address} is more than its reader can do: {error}.") from error
    return first, second
