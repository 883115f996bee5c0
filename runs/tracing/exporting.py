"""Spans, handed to OpenTelemetry's SDK under ids that follow from their rows. Imported where traces are collected."""

import os
import threading
from datetime import datetime
from functools import cache
from hashlib import sha256

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

from pevsite.installation import version
from runs.models import Run
from runs.tracing.spans import Attributes, Span

FLUSH_WITHIN = 2.0
"""Seconds; a process that is stopped must not wait for a collector that is away."""


def export(span: Span) -> None:
    """Queue a span; a thread of the SDK sends it. Where too many wait, the oldest are lost."""
    attributes: Attributes = {"gen_ai.conversation.id": str(span.run.submission), "pevsite.run.id": span.run.pk}
    attributes |= span.attributes
    if settings.TRACE_CONTENT:
        attributes |= span.content
    if span.error:
        attributes["error.type"] = span.error
    _next.ids = _trace_id(span.run), _span_id(span.run, span.row)
    tracer = provider().get_tracer("pevsite", version())
    kind = SpanKind.CLIENT if span.is_call else SpanKind.INTERNAL
    sent = tracer.start_span(span.name, _below(span), kind, attributes, start_time=_nanoseconds(span.start))
    if span.error:
        sent.set_status(Status(StatusCode.ERROR))
    sent.end(_nanoseconds(span.end))


def flush() -> None:
    """Send what waits, for `FLUSH_WITHIN` seconds at most."""
    if provider.cache_info().currsize:
        sending = threading.Thread(target=provider().force_flush, name="traces", daemon=True)
        sending.start()
        sending.join(FLUSH_WITHIN)


@cache
def provider() -> TracerProvider:
    """Configured by the variables that OpenTelemetry gives to every program: address, headers, sampling, limits."""
    name = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "pevsite"}
    made = TracerProvider(id_generator=_Ids(), resource=Resource.create({**name, "service.version": version()}))
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made


def _below(span: Span) -> Context:
    """Where a span belongs: under its parent's, which need not be sent yet. Spans are sampled by run."""
    if span.parent is None:
        return Context()
    trace = _trace_id(span.run)
    decision = provider().sampler.should_sample(Context(), trace, "").decision
    flags = TraceFlags(TraceFlags.SAMPLED if decision == Decision.RECORD_AND_SAMPLE else TraceFlags.DEFAULT)
    above = SpanContext(trace, _span_id(span.run, span.parent), is_remote=True, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(above), Context())


def _trace_id(run: Run) -> int:
    """The same in every process, and another one in every installation: numbers of runs are not."""
    return int.from_bytes(sha256(f"{run.submission}".encode()).digest()[:16])


def _span_id(run: Run, row: models.Model) -> int:
    return int.from_bytes(sha256(f"{run.submission} {row._meta.model_name} {row.pk}".encode()).digest()[:8])


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000) * 1_000


class _Next(threading.local):
    """The ids of the span that a thread is about to begin."""

    ids = (0, 0)


_next = _Next()


class _Ids(IdGenerator):
    def generate_trace_id(self) -> int:
        return _next.ids[0]

    def generate_span_id(self) -> int:
        return _next.ids[1]
