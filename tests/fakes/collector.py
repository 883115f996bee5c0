"""A collector of OpenTelemetry's traces that keeps the spans it is sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """`spans` in the order in which they came; `resources`: what their processes say of themselves."""

    def __init__(self) -> None:
        self.spans: list[dict[str, Any]] = []
        self.resources: list[dict[str, Any]] = []
        self.paths: set[str] = set()
        self.url = ""

    def take(self, path: str, body: bytes) -> None:
        self.paths.add(path)
        request = MessageToDict(ExportTraceServiceRequest.FromString(body))
        for resource in request["resourceSpans"]:
            self.resources.append(_values(resource["resource"]["attributes"]))
            for scope in resource["scopeSpans"]:
                self.spans += [{**span, "attributes": _values(span["attributes"])} for span in scope["spans"]]


def _values(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    return {pair["key"]: next(iter(pair["value"].values())) for pair in attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a port of its own."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Content-Encoding"] is None
            collector.take(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
