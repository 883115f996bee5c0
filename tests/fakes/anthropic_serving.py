"""The tools that the service runs itself: blocks of their calls and results, and the rules on requests with them."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from tests.fakes.anthropic_answers import JsonObject
from tests.fakes.anthropic_blocks import flatten
from tests.fakes.anthropic_models import MODELS

RESULTS = {
    "web_search_tool_result": ("web_search",),
    "web_fetch_tool_result": ("web_fetch",),
    "code_execution_tool_result": ("code_execution",),
    "bash_code_execution_tool_result": ("bash_code_execution",),
}
"""The kinds of results, and the calls that each may belong to."""
_TYPES = ("web_search_20260318", "web_fetch_20260318", "code_execution_20260521")
_WITHOUT = ("claude-haiku-4-5",)


def use(id_: str, name: str, **arguments: object) -> JsonObject:
    return {"type": "server_tool_use", "id": id_, "name": name, "input": arguments, "caller": {"type": "direct"}}


def found(url: str, title: str, age: str | None = None) -> JsonObject:
    return {
        "type": "web_search_result",
        "url": url,
        "title": title,
        "page_age": age,
        "encrypted_content": "EqgfCioIARgBIiQ3YTAw",
    }


def results(id_: str, *pages: JsonObject) -> JsonObject:
    return {"type": "web_search_tool_result", "tool_use_id": id_, "content": list(pages), "caller": {"type": "direct"}}


def failed(id_: str, code: str = "unavailable", tool: str = "web_search") -> JsonObject:
    content = {"type": f"{tool}_tool_result_error", "error_code": code}
    return {"type": f"{tool}_tool_result", "tool_use_id": id_, "content": content}


def page(id_: str, url: str, text: str) -> JsonObject:
    source = {"type": "text", "media_type": "text/plain", "data": text}
    document = {"type": "document", "source": source, "title": "A page", "citations": None}
    read = {"type": "web_fetch_result", "url": url, "content": document, "retrieved_at": "2026-11-25T10:00:00Z"}
    return {"type": "web_fetch_tool_result", "tool_use_id": id_, "content": read, "caller": {"type": "direct"}}


def pdf_page(id_: str, url: str, data: bytes) -> JsonObject:
    """A PDF file that was read, as the service gives it."""
    made = page(id_, url, "")
    source = {"type": "base64", "media_type": "application/pdf", "data": base64.b64encode(data).decode()}
    made["content"]["content"] |= {"source": source}
    return made


def output(id_: str, stdout: str, status: int = 0) -> JsonObject:
    ran = {"type": "code_execution_result", "stdout": stdout, "stderr": "", "return_code": status, "content": []}
    return {"type": "code_execution_tool_result", "tool_use_id": id_, "content": ran}


def said(text: str, *cited: tuple[str, str]) -> JsonObject:
    """Text that rests on these passages, each with the address of its page."""
    citations = [
        {
            "type": "web_search_result_location",
            "url": url,
            "title": "A page",
            "encrypted_index": "Eo8BCioIAhgBIiQyYjQ0",
            "cited_text": words,
        }
        for url, words in cited
    ]
    return {"type": "text", "text": text, **({"citations": citations} if cited else {})}


def uses(content: tuple[JsonObject, ...]) -> JsonObject:
    """What the usage of a reply says of them; what failed is not charged for."""
    done = [block for block in content if block["type"] in RESULTS and "error_code" not in block["content"]]
    counts = {
        "web_search_requests": sum(block["type"] == "web_search_tool_result" for block in done),
        "web_fetch_requests": sum(block["type"] == "web_fetch_tool_result" for block in done),
    }
    return {"server_tool_use": counts} if done else {}


def serving_errors(body: JsonObject) -> Iterator[str]:
    """What the API refuses of such tools, beside what types say."""
    served = [tool for tool in body.get("tools", []) if tool.get("type") in _TYPES]
    for tool in served:
        if body["model"].startswith(_WITHOUT) or body["model"] not in MODELS:
            yield f"tools: {tool['type']} is not supported by {body['model']}"
        if tool.get("allowed_domains") and tool.get("blocked_domains"):
            yield f"tools: {tool['name']}: allowed_domains and blocked_domains exclude each other"
    if (body.get("output_config") or {}).get("format") and any(tool["name"] == "web_search" for tool in served):
        yield "output_config.format: not supported with citations"
    yield from _pairs(body, {tool["name"] for tool in served})


def _pairs(body: JsonObject, offered: set[str]) -> Iterator[str]:
    asked: dict[str, str] = {}
    parts = flatten(body["messages"])
    for part in parts:
        block = part.block
        if block["type"] == "server_tool_use":
            asked[block["id"]] = block["name"]
        elif block["type"] in RESULTS:
            name = asked.pop(block["tool_use_id"], None)
            if part.role != "assistant" or name not in RESULTS[block["type"]]:
                yield f"{part.path}: `{block['type']}` without its `server_tool_use`"
    if asked and not offered:
        yield f"messages: `server_tool_use` of tools that are not in this request: {sorted(asked.values())}"
