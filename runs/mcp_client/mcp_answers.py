"""What servers answer: their tools, and the results of calls.

Answers are read here before the official library checks their form. It refuses an answer as a whole; here a tool or a
part of a result that breaks the rules costs none of the others.

The schemas of tools are put into the form that the Messages API takes. A request that offers one tool with a schema
that the API refuses is refused as a whole, so such a tool is left out, or its schema is rewritten where the API takes
the same in another form. The server checks the arguments of each call against its own schema in any case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from runs.errors import InvalidInput
from runs.mcp_client.server_config import SEPARATOR, ServerTool
from runs.text.json_values import is_nested_deeper

MAX_DEPTH = 100
"""Nesting of objects and lists. JSON parsers of the API refuse requests with more than 128 levels."""
_ARGUMENT = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""The API checks only the names of the arguments, not those of nested properties."""
_COMBINING = ("anyOf", "oneOf", "allOf")
"""The API accepts these everywhere but at the top level."""
_ANNOTATIONS = frozenset({"$comment", "$defs", "definitions", "description", "title", "type"})
"""Keywords that may be next to a `$ref` at the top level without restricting its target."""
_MAX_REFS = 10  # references that refer to each other may be circular


def accepted_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the schema, or an equivalent one that the API accepts, in linear time.

    Raises InvalidInput with a clause that says why the API would refuse it.
    """
    if is_nested_deeper(schema, MAX_DEPTH):
        raise InvalidInput(f"its schema has more than {MAX_DEPTH} levels")
    try:
        text = json.dumps(schema, allow_nan=False)
    except ValueError as error:
        raise InvalidInput("its schema has a number that JSON does not have") from error
    accepted, reason = _accepted(text)
    if reason:
        raise InvalidInput(reason)
    found: dict[str, Any] = json.loads(accepted)
    return found


@lru_cache(maxsize=300)
def _accepted(text: str) -> tuple[str, str]:
    """Returns the accepted schema as JSON, or the reason why there is none.

    Cached: tools are listed before each call, so the same schemas come repeatedly, and a check takes up to 0.4 seconds.
    """
    try:
        return json.dumps(_checked(json.loads(text))), ""
    except InvalidInput as error:
        return "", str(error)


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    for key in ("$schema", "$id"):  # the dialect of the schema, and where it was published
        schema.pop(key, None)
    schema = _with_type(_without_ref(schema))
    _modernize(schema)
    for key in _COMBINING:
        if key in schema:
            raise InvalidInput(f"its schema has {key} at the top, which the API refuses")
    _check_form(schema)
    for name in schema.get("properties", {}):
        if not _ARGUMENT.fullmatch(name):
            rule = "names of arguments have 1 to 64 letters, digits, dots, _ and -"
            raise InvalidInput(f"the API refuses the name of its argument “{name[:64]}”: {rule}")
    return schema


def _without_ref(schema: dict[str, Any]) -> dict[str, Any]:
    """Replaces a `$ref` at the top level by its target, because the API requires an object there."""
    for _ in range(_MAX_REFS):
        if "$ref" not in schema:
            return schema
        target = _targets_in(schema)(schema["$ref"])
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        if not isinstance(target, dict) or not beside.keys() <= _ANNOTATIONS:
            raise InvalidInput("its schema has a $ref at the top that cannot be resolved")
        schema = target | {key: value for key, value in beside.items() if key != "type" or "type" not in target}
    raise InvalidInput("its schema has a $ref at the top that leads to itself")


def _with_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments are always an object, so a missing type, or a choice of types that includes object, means object."""
    kind = schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise InvalidInput("its arguments are no object")
    return {**schema, "type": "object"}


def _modernize(schema: dict[str, Any]) -> None:
    """Rewrites keywords of older drafts as in draft 2020-12, at every level."""
    for each in _subschemas(schema):
        if isinstance(items := each.get("items"), list):
            each["prefixItems"] = each.pop("items")
            if "additionalItems" in each:
                each["items"] = each.pop("additionalItems")
            if not items:
                del each["prefixItems"]
        for exclusive, inclusive in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if isinstance(each.get(exclusive), bool):
                is_exclusive = each.pop(exclusive)
                if is_exclusive and inclusive in each:
                    each[exclusive] = each.pop(inclusive)
        if isinstance(pattern := each.get("pattern"), str) and not _compiles(pattern):
            del each["pattern"]  # it is in another dialect of regular expressions, which only the server knows


def _subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the schema and all nested schemas, outer ones first. Malformed parts are skipped; `_check_form` refuses
    them.
    """
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        yield each
        try:
            waiting += [one for one in DRAFT202012.subresources_of(each) if isinstance(one, dict)]
        except (AttributeError, TypeError):
            continue


def _check_form(schema: dict[str, Any]) -> None:
    """Raises InvalidInput for anything that is not JSON Schema 2020-12, and for unresolvable references."""
    try:
        Draft202012Validator.check_schema(schema)
        target = _targets_in(schema)
        for each in _subschemas(schema):
            for key in ("$ref", "$dynamicRef"):
                if key in each:
                    target(each[key])
    except SchemaError as error:
        raise InvalidInput(_reason(error)) from error
    except InvalidInput:
        raise
    except Exception as error:  # a hostile schema can break the library in unknown ways
        raise InvalidInput(f"its schema cannot be checked ({type(error).__name__})") from error


def _targets_in(schema: dict[str, Any]) -> Callable[[object], Any]:
    """A function that returns what a reference within the schema refers to, and raises InvalidInput."""
    resolver = Registry[Any]().with_resource("", DRAFT202012.create_resource(schema)).resolver()
    return lambda ref: _target(ref, resolver.lookup)


def _target(ref: object, lookup: Callable[[str], Any]) -> Any:
    try:
        return lookup(str(ref)).contents
    except Exception as error:  # as in `_check_form`
        raise InvalidInput(f"its schema refers to “{str(ref)[:100]}”, which is not in it") from error


def _reason(error: SchemaError) -> str:
    path = "/".join(str(part) for part in error.absolute_path)[:100]
    if error.absolute_path and error.absolute_path[-1] == "type":
        return f"its schema has a type that does not exist, at {path}: {str(error.instance)[:60]}"
    return f"its schema is not valid JSON Schema 2020-12{f', at {path}' if path else ''}: {error.message[:150]}"


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


MAX_TOOLS = 100
MAX_DESCRIPTION = 2_000  # characters
MAX_SCHEMA = 20_000  # characters of JSON
MAX_SCHEMAS = 500_000
"""Characters of all schemas together as JSON. Descriptions and schemas become part of questions to models."""
MAX_TOOL_NAME = 64
"""Characters that the API accepts, including the name of the server."""
MAX_ADDRESS = 2_000  # characters
MAX_LABEL = 200
"""Characters of a resource's address, and of other words about it."""
_TOOL = re.compile(r"[A-Za-z0-9_-]{1,60}")


class Answers:
    """Rewrites the answers of a server, and records which of its tools are left out and why. `server`: its name."""

    def __init__(self, server: str = "") -> None:
        self._prefix = f"{server}{SEPARATOR}" if server else ""
        self.begin_listing()

    def begin_listing(self) -> None:
        """Forgets the tools that were listed before."""
        self._problems: list[str] = []
        self._tools = self._characters = self._beyond = 0

    @property
    def problems(self) -> list[str]:
        """Returns a sentence for each tool that was left out since the listing began."""
        beyond = [f"{self._beyond} tools beyond {MAX_TOOLS} are left out"] if self._beyond else []
        return [*beyond, *self._problems[:MAX_TOOLS]]

    def rewritten(self, result: dict[str, Any]) -> dict[str, Any]:
        """Returns the result with usable tools only, and with all its content as one text."""
        if isinstance(tools := result.get("tools"), list):
            return {**result, "tools": list(self._usable(tools))}
        if result.keys() & {"content", "structuredContent", "isError"}:
            kept = {key: value for key, value in result.items() if key != "structuredContent"}
            return {**kept, "content": [{"type": "text", "text": text_of(result)}]}
        return result

    def _usable(self, tools: Sequence[object]) -> Iterator[dict[str, Any]]:
        """Yields the parts of each tool that are used. Schemas of results are dropped, because the text is useful even
        if it violates them.
        """
        for raw in tools:
            if self._tools == MAX_TOOLS:
                self._beyond += 1
                continue
            try:
                tool = self._tool(raw)
            except InvalidInput as error:
                self._problems.append(str(error))
                continue
            self._tools += 1
            yield {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}

    def _tool(self, raw: object) -> ServerTool:
        """Returns the tool. Raises InvalidInput with a sentence if it exceeds a limit."""
        told = raw if isinstance(raw, dict) else {}
        name, schema, description = told.get("name"), told.get("inputSchema"), told.get("description")
        if not isinstance(name, str) or not _TOOL.fullmatch(name):
            rule = "its name is not 1 to 60 letters, digits, _ and -"
            raise InvalidInput(f"“{str(name or '')[:60]}” is left out: {rule}")
        if (length := len(self._prefix) + len(name)) > MAX_TOOL_NAME:
            more = f"with the name of the server it has {length} characters, and the API takes {MAX_TOOL_NAME}"
            raise InvalidInput(f"{name} is left out: {more}. Give the server a shorter name")
        try:
            return ServerTool(name, _words(description)[:MAX_DESCRIPTION], self._schema(schema))
        except InvalidInput as error:
            raise InvalidInput(f"{name} is left out: {error}") from error

    def _schema(self, schema: object) -> dict[str, Any]:
        if not isinstance(schema, dict):
            raise InvalidInput("its arguments are no object")
        text = json.dumps(schema)
        if len(text) > MAX_SCHEMA:
            raise InvalidInput(f"its schema has more than {MAX_SCHEMA:,} characters")
        if "\\u0000" in text:
            raise InvalidInput("its schema has NUL characters, which cannot be stored")
        self._characters += len(text)
        if self._characters > MAX_SCHEMAS:
            raise InvalidInput(f"the schemas of this server's tools have more than {MAX_SCHEMAS:,} characters together")
        return accepted_schema(schema)


def text_of(result: Mapping[str, Any]) -> str:
    """Returns the content of a result as text. Content that is not text is named."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else [content] if content else []
    parts = [part for part in map(_text_of_block, blocks) if part.strip()]
    structured = result.get("structuredContent")
    if structured is not None and not (parts and _repeats(parts, structured)):
        parts.append(json.dumps(structured, ensure_ascii=False))
    return _words("\n".join(parts))


def _text_of_block(block: object) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    match block.get("type"):
        case "resource" if isinstance(resource := block.get("resource"), dict):
            about = _join("resource", _label(resource.get("uri"), MAX_ADDRESS), _label(resource.get("mimeType")))
            if isinstance(text := resource.get("text"), str):
                return f"[{about}]\n{text}"
            return _left_out_note(about, _size(resource.get("blob")))
        case "resource_link":
            size = block.get("size")
            about = _join(
                _label(block.get("name")),
                _label(block.get("title")),
                _label(block.get("uri"), MAX_ADDRESS),
                _label(block.get("mimeType")),
                f"{size:,} bytes" if isinstance(size, int) else "",
            )
            description = block.get("description")
            words = description[:MAX_DESCRIPTION] if isinstance(description, str) else ""
            return f"[link to {about}: its content is not included]\n{words}".rstrip()
        case "image" | "audio" as kind:
            return _left_out_note(kind, _label(block.get("mimeType")), _size(block.get("data")))
    if isinstance(text := block.get("text"), str):
        return text
    return _left_out_note(_label(block.get("type")) or "something without a type")


def _repeats(parts: Sequence[str], structured: object) -> bool:
    """Whether the texts repeat the structured content: as JSON, or as the value or elements that libraries wrap as
    `result`.
    """
    inner = structured["result"] if isinstance(structured, dict) and structured.keys() == {"result"} else structured
    whole = "\n".join(parts)
    said: list[object] = [list(parts), [_parse_json(part) for part in parts], whole, _parse_json(whole)]
    try:
        return bool({_canonical(structured), _canonical(inner)} & set(map(_canonical, said)))
    except RecursionError:  # a text that could be parsed may be too deep to be serialised
        return False


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _left_out_note(*about: str) -> str:
    return f"[{_join(*about)}: left out, since it is no text]"


def _join(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _label(value: object, limit: int = MAX_LABEL) -> str:
    return " ".join(value[: 4 * limit].split())[:limit] if isinstance(value, str) else ""


def _size(base64: object) -> str:
    return f"about {len(base64) * 3 // 4:,} bytes" if isinstance(base64, str) else ""


def _words(text: object) -> str:
    """Returns the text without NUL, which databases cannot store."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(text, str) else ""
