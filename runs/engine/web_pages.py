"""Pages of the web for models: which sites they may read, and how many."""

from collections.abc import Callable
from datetime import UTC, datetime

from django.conf import settings

from runs.contracts.ports import Page
from runs.engine.database import database
from runs.engine.recording import Recording
from runs.engine.web_page_texts import text_of_page
from runs.errors import InvalidInput
from runs.http_client import http_fetch
from runs.models import ToolCall
from runs.pev.tools.fetch_page import FetchPage
from runs.text.domains import sites


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
            found = http_fetch.fetch(address, self._check_site, self._keep_going)
            self._read[address] = Page(found.address, datetime.now(UTC), text_of_page(found))
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
