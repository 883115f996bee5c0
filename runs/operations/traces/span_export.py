"""Passes spans to the OpenTelemetry SDK, with ids computed from their rows. Imported only if traces are collected."""

import io
import os
import ssl
import threading
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from hashlib import sha256

import httpx2
import requests
from django.conf import settings
from django.db import models
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)
from requests.adapters import BaseAdapter

from pevsite.installation import version
from runs.http_client.bounded_reading import ask
from runs.models import Run
from runs.operations.traces.spans import Attributes, TraceSpan

FLUSH_WITHIN = 2.0
"""Seconds for which an ending process waits for a collector that may be away."""

MAX_ANSWER = 1_000_000
"""Bytes of the answer of a collector, which only says whether it accepted the spans."""
_TIMEOUT = 10.0
"""Seconds, if the exporter has no timeout of its own."""


def export(span: TraceSpan) -> None:
    """Queue a span; a thread of the SDK sends it. If too many wait, the oldest are dropped."""
    attributes: Attributes = {"gen_ai.conversation.id": str(span.run.submission), "pevsite.run.id": span.run.pk}
    attributes |= span.attributes
    if settings.TRACE_CONTENT:
        attributes |= span.content
    if span.error:
        attributes["error.type"] = span.error
    _next.ids = _trace_id(span.run), _span_id(span.run, span.row)
    tracer = provider().get_tracer("pevsite", version())
    kind = SpanKind.CLIENT if span.is_call else SpanKind.INTERNAL
    sent = tracer.start_span(span.name, _parent_context(span), kind, attributes, start_time=_nanoseconds(span.start))
    if span.error:
        sent.set_status(Status(StatusCode.ERROR))
    sent.end(_nanoseconds(span.end))


def flush() -> None:
    """Send waiting spans, for at most `FLUSH_WITHIN` seconds."""
    if provider.cache_info().currsize:
        sending = threading.Thread(target=provider().force_flush, name="traces", daemon=True)
        sending.start()
        sending.join(FLUSH_WITHIN)


@cache
def provider() -> TracerProvider:
    """The provider of the SDK, configured by the standard variables of OpenTelemetry."""
    name = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "pevsite"}
    tracers = TracerProvider(id_generator=_Ids(), resource=Resource.create({**name, "service.version": version()}))
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(session=_session())))
    return tracers


def _session() -> requests.Session:
    """The session of the exporter as the library configures it, except that answers are read with our limits."""
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, _BoundedAdapter())
    return session


class _BoundedAdapter(BaseAdapter):
    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float | None, float | None] | None = None,
        verify: bool | str = True,
        cert: bytes | str | tuple[bytes | str, bytes | str] | None = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Send a request. Proxies come from the environment, as everywhere in the product."""
        assert request.method is not None
        assert request.url is not None
        body = request.body.encode() if isinstance(request.body, str) else request.body
        assert body is None or isinstance(body, bytes)
        try:
            answer = ask(
                request.method,
                request.url,
                headers={name: str(value) for name, value in request.headers.items()},
                content=body,
                seconds=timeout if isinstance(timeout, int | float) else _TIMEOUT,
                max_bytes=MAX_ANSWER,
                tls=_tls(verify, cert),
            )
        except httpx2.TimeoutException as error:
            raise requests.Timeout(str(error)) from error
        except httpx2.HTTPError as error:
            raise requests.ConnectionError(str(error)) from error
        response = requests.Response()
        response.status_code, response.reason = answer.status_code, answer.reason_phrase
        response.headers.update(answer.headers)
        response.url, response.request, response.raw = request.url, request, io.BytesIO(answer.content)
        return response

    def close(self) -> None:
        """Nothing to close: each request closes its connection."""


@cache
def _tls(verify: bool | str, cert: bytes | str | tuple[bytes | str, bytes | str] | None) -> ssl.SSLContext:
    """The certificates that the variables of OpenTelemetry name: those of the collector and of this installation."""
    context = httpx2.create_ssl_context()
    if isinstance(verify, str):
        context.load_verify_locations(cafile=verify)
    if cert is not None:
        context.load_cert_chain(*(cert if isinstance(cert, tuple) else (cert,)))
    return context


def _parent_context(span: TraceSpan) -> Context:
    """The context of a span: its parent, which need not be sent yet. Spans are sampled by run."""
    if span.parent is None:
        return Context()
    trace = _trace_id(span.run)
    decision = provider().sampler.should_sample(Context(), trace, "").decision
    flags = TraceFlags(TraceFlags.SAMPLED if decision == Decision.RECORD_AND_SAMPLE else TraceFlags.DEFAULT)
    above = SpanContext(trace, _span_id(span.run, span.parent), is_remote=True, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(above), Context())


def _trace_id(run: Run) -> int:
    """An id that is the same in every process, and differs between installations, unlike the numbers of runs."""
    return int.from_bytes(sha256(f"{run.submission}".encode()).digest()[:16])


def _span_id(run: Run, row: models.Model) -> int:
    return int.from_bytes(sha256(f"{run.submission} {row._meta.model_name} {row.pk}".encode()).digest()[:8])


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000) * 1_000


class _Next(threading.local):
    """Provides the ids of the span that a thread is about to start."""

    ids = (0, 0)


_next = _Next()


class _Ids(IdGenerator):
    def generate_trace_id(self) -> int:
        return _next.ids[0]

    def generate_span_id(self) -> int:
        return _next.ids[1]
