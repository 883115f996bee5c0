"""Traces: how long runs, steps, attempts and calls took, sent as OpenTelemetry spans to a collector."""
