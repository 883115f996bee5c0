"""Probes a model with small questions to find out what its server supports, because most servers silently ignore
parameters that they do not know.

Each question asks for something that a model would not do by itself, so only a server that obeys produces it.
"""

import base64
import json
import re
import struct
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from runs.contracts.ports import Reply
from runs.errors import ModelError
from runs.llm.capabilities import Probed, known_capability
from runs.llm.client import Clients
from runs.llm.failures import failure
from runs.llm.model_servers import ModelServer
from runs.pev.contracts import VerifierAnswer
from runs.pev.conversation.asking import unwrapped
from runs.pev.conversation.examples import form_of
from runs.pev.conversation.generous import read_json

MAX_QUESTION_SECONDS = 90.0
MAX_WHOLE_ANSWER = 1_000  # tokens
MAX_ANSWER = 300
"""Tokens. Answers take ten and a verdict on two criteria 250; models that think aloud need some more."""
TRIES = 2
"""Of calling a tool, because small models do not always follow the instruction."""
_HELLO = "Answer with the word hello and nothing else."
_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}
_NAME = "note_colour"
_TOOL = {"name": _NAME, "description": "Notes a colour.", "input_schema": _SCHEMA}
_CALL = "Call the tool note_colour with the colour blue. Do not answer in text."
_WHOLE_SYSTEM = f"You judge notes. Answer with one JSON object and nothing around it.\n{form_of(VerifierAnswer)}"
_WHOLE = (
    "The note lease.txt says: “The rent is 2,400.” Two criteria: C1: The note states the rent. C2: The note states the "
    "deposit. Judge both."
)
_COLOURS = "Which colours are these two pictures? Answer with the two words, in their order, and nothing else."
_WORD = "Which word does this document name? Answer with that word and nothing else."
CRITERIA = 2  # that the probed verdict must judge
_COLOUR = re.compile(r"black|white|gr[ea]y|red|green|blue|yellow|orange|purple|pink|brown")


@dataclass(frozen=True)
class ProbeReport:
    """The result of probing. `problem`: why the model cannot be asked at all, or empty. `reasons`: by field of
    `probed`, why it is unknown or unsupported. `seconds`: until the first answer.
    """

    probed: Probed = field(default_factory=Probed)
    problem: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


def probe(clients: Clients, server: ModelServer, model: str, seconds: float) -> ProbeReport:
    """Asks at most ten small questions within `seconds`. Every failure is part of the report.

    Known models on Anthropic's own service are only asked whether they answer, and for their window.
    """
    questions = _Questions(clients, server, model, time.monotonic() + seconds)
    began = time.monotonic()
    try:
        hello = questions.ask(_HELLO)
    except ModelError as error:
        return ProbeReport(Probed(streaming=False if error.kind == "incomplete_stream" else None), problem=str(error))
    took = time.monotonic() - began
    probed = Probed(streaming=True, usage=hello.usage.input > 0 and hello.usage.output > 0, window=questions.window())
    if not (server.is_anthropic and known_capability(model)):
        probed = probed.model_copy(update=questions.honoured())
    return ProbeReport(probed, reasons=questions.reasons, seconds=took)


class _Questions:
    """The questions to one model, until its time is over. `reasons`: why something is unknown."""

    def __init__(self, clients: Clients, server: ModelServer, model: str, ends: float) -> None:
        self.reasons: dict[str, str] = {}
        self._clients = clients
        self._server = server
        self._model = model
        self._ends = ends

    def ask(self, text: str, shown: Sequence[dict[str, Any]] = (), **parameters: Any) -> Reply:
        """Raises ModelError, also when the time is over."""
        message = {"role": "user", "content": [*shown, {"type": "text", "text": text}]}
        sent = {"model": self._model, "max_tokens": MAX_ANSWER, "messages": [message], **parameters}
        return self._clients.send(self._server, sent, self._limit())

    def window(self) -> int | None:
        """Returns the context window from the server's list of models."""
        with suppress(ModelError):
            return self._clients.window(self._server, self._model, self._limit())
        return None

    def honoured(self) -> dict[str, bool | None]:
        """Returns the fields of `Probed` about parameters, pictures and PDF files."""
        offered: dict[str, Any] = {"tools": [_TOOL]}
        found: dict[str, bool | None] = {"tools": None, "no_tools": None, "forced_tool": False}
        for _ in range(TRIES):
            found["tools"] = found["tools"] or self._find("tools", _calls, _CALL, **offered)
        if found["tools"]:
            choice = {"type": "none"}
            found["no_tools"] = self._find("no_tools", _calls_nothing, _CALL, **offered, tool_choice=choice)
        assumed = known_capability(self._model)
        if assumed is None or assumed.forced_tool:  # the other models refuse it
            choice = {"type": "tool", "name": _NAME}
            found["forced_tool"] = self._find("forced_tool", _calls, _HELLO, **offered, tool_choice=choice)
        if not found["forced_tool"]:
            found["whole_form"] = self._find(
                "whole_form", _has_whole_form, _WHOLE, system=_WHOLE_SYSTEM, max_tokens=MAX_WHOLE_ANSWER
            )
        config = {"format": {"type": "json_schema", "schema": _SCHEMA}}
        found["format"] = self._find("format", _has_format, _HELLO, output_config=config)
        found["images"] = self._find("images", _names_colours, _COLOURS, pictures())
        found["documents"] = self._find("documents", _names_word, _WORD, document())
        return found

    def _find(
        self,
        name: str,
        shows: Callable[[Reply], bool],
        text: str,
        shown: Sequence[dict[str, Any]] = (),
        **parameters: Any,
    ) -> bool | None:
        """Whether the reply shows it. A refusal means no; a temporary error or a cut-off answer leaves it unknown."""
        try:
            reply = self.ask(text, shown, **parameters)
        except ModelError as error:
            self.reasons[name] = str(error)
            return None if error.retriable else False
        if not shows(reply) and reply.stop_reason == "max_tokens":
            self.reasons[name] = "The answer was too long and was cut off."
            return None
        self.reasons.pop(name, None)
        return shows(reply)

    def _limit(self) -> Callable[[], None]:
        """Returns a function that ends a call when its own time or the total time is over. Raises ModelError if it
        already is.
        """
        ends = min(self._ends, time.monotonic() + MAX_QUESTION_SECONDS)

        def check() -> None:
            if time.monotonic() >= ends:
                raise failure("timeout_error", "There was no answer in time.")

        check()
        return check


def _calls(reply: Reply) -> bool:
    return any(use.name == _NAME for use in reply.tool_uses)


def _calls_nothing(reply: Reply) -> bool:
    return not reply.tool_uses


def _names_colours(reply: Reply) -> bool:
    return tuple(_COLOUR.findall(reply.text.lower())) == COLOURS


def _names_word(reply: Reply) -> bool:
    return WORD in reply.text.lower()


def _has_whole_form(reply: Reply) -> bool:
    """Whether it is a verdict that code can read. Its content does not matter."""
    try:
        answer, _ = read_json(unwrapped(reply.text), VerifierAnswer, set)
    except ValidationError:
        return False
    return len(answer.criteria_results) == CRITERIA


def _has_format(reply: Reply) -> bool:
    try:
        return bool(json.loads(reply.text) == {"colour": "blue"})
    except (ValueError, RecursionError):
        return False


_SIDE = 64  # pixels of the picture that a model is shown
_YELLOW, _BLACK = b"\xff\xff\x00", b"\x00\x00\x00"
COLOURS = ("yellow", "black")
"""Not the most common colours, because a model that sees nothing may guess."""
WORD = "heliotrope"


def pictures() -> Sequence[dict[str, Any]]:
    """Returns blocks of a question, each with a picture in one of COLOURS."""
    return [_block("image", "image/png", _png(pixel)) for pixel in (_YELLOW, _BLACK)]


def document() -> Sequence[dict[str, Any]]:
    """Returns a block of a question with a one-page PDF file that says WORD."""
    return [_block("document", "application/pdf", _pdf(f"The word is {WORD}."))]


def _block(kind: str, media_type: str, data: bytes) -> dict[str, Any]:
    return {
        "type": kind,
        "source": {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()},
    }


def _png(pixel: bytes) -> bytes:
    header = struct.pack("!IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + pixel * _SIDE) * _SIDE)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    parts = [
        struct.pack("!I", len(data)) + name + data + struct.pack("!I", zlib.crc32(name + data)) for name, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _pdf(words: str) -> bytes:
    content = f"BT /F 24 Tf 20 80 Td ({words}) Tj ET"
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
    )
    file, offsets = "%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, 1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(file)}\n%%EOF\n"
    return f"{file}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()
