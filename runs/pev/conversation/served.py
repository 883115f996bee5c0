"""What a model's service has done itself within its replies: calls with their results, as the journal has them.

Everything here comes from the service, and from pages of strangers: nothing of its shape is taken for granted.
"""

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import urlsplit

from pydantic import JsonValue

from runs.contracts.base import JsonObject
from runs.contracts.ports import SERVED, Ask, Reply, ToolResult, ToolUse
from runs.errors import InvalidInput
from runs.pev.conversation.window import MAX_RESULT_CHARS, result_chars
from runs.pev.delimiters import delimited
from runs.text.domains import Sites
from runs.text.truncate import quoted

WEB_SEARCH, WEB_FETCH, CODE_EXECUTION = "web_search", "web_fetch", "code_execution"
MAX_SERVED = 50
"""Calls of one reply that are recorded: as many as are carried out of the model's own."""
_UNREAD = "only the model has seen it"
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        WEB_SEARCH: WEB_SEARCH,
        WEB_FETCH: WEB_FETCH,
        CODE_EXECUTION: CODE_EXECUTION,
        "bash_code_execution": CODE_EXECUTION,
        "text_editor_code_execution": CODE_EXECUTION,
    }
)
"""The tool of a plan for each name that a service uses."""


@dataclass(frozen=True)
class _SearchUse:
    """A search of this attempt, with the addresses that it found."""

    use: ToolUse
    addresses: frozenset[str]


class ServiceCalls:
    """Follows the calls of one attempt. A call and its result may come in two replies, in that order: a service that
    pauses, or that is to be given results of ours first, goes on with the next one.
    """

    def __init__(self, window: int | None, read_pdf: Callable[[str, bytes], str]) -> None:
        """`read_pdf`: as of a JournaledToolbox."""
        self._read_pdf = read_pdf
        self._limit = result_chars(window, MAX_RESULT_CHARS)
        self._open: dict[str, ToolUse] = {}
        self._ids: set[str] = set()
        self._found: list[_SearchUse] = []
        self._uses: Counter[str] = Counter()

    def calls(self, ask: Ask, reply: Reply) -> list[tuple[ToolUse, ToolResult]]:
        """The calls whose results came with this reply to this question, in order. A result without a call is ignored;
        so is a second result, and a second call with an id that was used before.
        """
        sites = {spec.name: spec.service.sites for spec in ask.tools if spec.service}
        calls = list(self._answered(reply, sites))[:MAX_SERVED]
        return [*calls, *self._cited_later(calls, list(dict.fromkeys(_citations(reply.content))))]

    def used_up(self, ask: Ask) -> bool:
        """Whether one more reply could use a tool more often than an attempt may. Depends on the replies alone (D3)."""
        return any(self._uses[spec.name] + spec.service.uses > spec.service.total for spec in ask.tools if spec.service)

    def forget(self) -> None:
        """A new conversation begins. Calls without a result will not get one."""
        self._open.clear()

    def _answered(self, reply: Reply, sites: Mapping[str, Sites]) -> Iterator[tuple[ToolUse, ToolResult]]:
        cited = list(dict.fromkeys(_citations(reply.content)))
        for block in reply.content:
            kind = str(block.get("type"))
            if kind == "server_tool_use":
                self._begin(block)
            elif kind.endswith(SERVED):
                use = self._open.pop(str(block.get("tool_use_id")), None)
                if use is not None:
                    yield use, self._result(use, kind, block.get("content"), sites.get(use.name, Sites()), cited)

    def _begin(self, block: JsonObject) -> None:
        key, name, given = str(block.get("id")), _NAMES.get(str(block.get("name"))), block.get("input")
        if name is None or key in self._ids:
            return
        self._ids.add(key)
        self._uses[name] += 1
        self._open[key] = ToolUse(key, name, given if isinstance(given, dict) else {})

    def _result(
        self, use: ToolUse, kind: str, content: JsonValue, sites: Sites, cited: Sequence[tuple[str, str]]
    ) -> ToolResult:
        if _NAMES.get(kind.removesuffix(SERVED)) != use.name:
            return ToolResult(f"The service answered with something else: {quoted(kind, 60)}.", is_error=True)
        if isinstance(content, dict) and "error_code" in content:
            return ToolResult(f"The service answered: {quoted(_text(content['error_code']), 60)}.", is_error=True)
        if use.name == WEB_SEARCH:
            return self._search(use, content, sites, cited)
        if not isinstance(content, dict):
            return ToolResult("The service answered with nothing that can be read.", is_error=True)
        return self._page(content, sites) if use.name == WEB_FETCH else self._output(content)

    def _search(self, use: ToolUse, content: JsonValue, sites: Sites, cited: Sequence[tuple[str, str]]) -> ToolResult:
        found = [one for one in (content if isinstance(content, list) else []) if isinstance(one, dict)]
        known = [one for one in found if _is_of(_text(one.get("url")), sites)]
        self._found.append(_SearchUse(use, frozenset(_text(one.get("url")) for one in known)))
        lines = [line for one in known for line in _lines_of(one, cited)]
        left = f"; {len(found) - len(known)} of other sites left out" if len(known) < len(found) else ""
        head = f"{len(known)} found for {quoted(_text(use.input.get('query')), 200)}{left}"
        return self._delimited(head, "\n".join(lines))

    def _page(self, content: JsonObject, sites: Sites) -> ToolResult:
        address = _text(content.get("url"))
        if not _is_of(address, sites):
            return ToolResult("The service answered with a page of a site that was not allowed.", is_error=True)
        document = content.get("content")
        source = document.get("source") if isinstance(document, dict) else None
        given = source if isinstance(source, dict) else {}
        if given.get("type") == "base64":
            return self._pdf(address, given)
        text = _text(given.get("data")) if given.get("type") == "text" else ""
        return self._delimited(address if text else f"{address}, which is no text: {_UNREAD}", text)

    def _pdf(self, address: str, source: JsonObject) -> ToolResult:
        """The text of a PDF file. Only the text can be quoted, although the model saw the pages."""
        try:
            text = self._read_pdf(address, base64.b64decode(_text(source.get("data")), validate=True))
        except InvalidInput as error:
            return self._delimited(f"{address}: {_UNREAD}. {error}", "")
        except ValueError:
            return self._delimited(f"{address}, whose bytes were damaged on the way: {_UNREAD}", "")
        nothing = "" if text.strip() else f" without text: {_UNREAD}"
        return self._delimited(f"{address}, a PDF file{nothing}", text)

    def _output(self, content: JsonObject) -> ToolResult:
        status = content.get("return_code")
        failed = isinstance(status, int) and status != 0
        hidden = " (what it printed only the model is shown)" if "encrypted_stdout" in content else ""
        head = f"Ended with status {status}{hidden}" if isinstance(status, int) else "Done"
        parts = [content.get(name) for name in ("stdout", "stderr", "content")]  # which may be a list of files
        text = "\n".join(part.rstrip("\n") for part in parts if isinstance(part, str) and part)
        return ToolResult(self._delimited(head, text).text, is_error=failed)

    def _cited_later(
        self, calls: Sequence[tuple[ToolUse, ToolResult]], cited: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[ToolUse, ToolResult]]:
        """What a reply cites from earlier searches, as one more result of each search."""
        now = {use.id for use, _ in calls}
        for search in self._found:
            lines = [f"{address}\n{text}" for address, text in cited if address in search.addresses]
            if search.use.id not in now and lines:
                head = f"Cited of what was found for {quoted(_text(search.use.input.get('query')), 200)}"
                yield search.use, self._delimited(head, "\n".join(lines))

    def _delimited(self, head: str, text: str) -> ToolResult:
        """The first line is ours, or repeats the request of the model. The rest is from strangers."""
        cut = f"\n(cut: it has {len(text):,} characters)" if len(text) > self._limit else ""
        line = " ".join(head.split())[: self._limit]
        return ToolResult(f"{line}\n{delimited('found', text[: self._limit])}{cut}")


def _lines_of(found: JsonObject, cited: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A result of a search: title, address, age of the page, and what the model cites of it, each on its own line."""
    address = _text(found.get("url"))
    for text in (_text(found.get("title")), address, _text(found.get("page_age"))):
        if text.strip():
            yield " ".join(text.split())
    yield from (text for place, text in cited if place == address)


def _citations(content: Sequence[JsonObject]) -> Iterator[tuple[str, str]]:
    """Address and words of the pages that a text of the service cites. The words are from the page."""
    for block in content:
        listed = block.get("citations") if block.get("type") == "text" else None
        for one in listed if isinstance(listed, list) else []:
            if isinstance(one, dict) and one.get("type") == "web_search_result_location":
                address, text = _text(one.get("url")), _text(one.get("cited_text"))
                if address and text.strip():
                    yield address, text


def _is_of(address: str, sites: Sites) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and sites.has((parts.hostname or "").lower())
    except ValueError:
        return False


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
