"""Traces: how long runs, steps, attempts and calls took, sent to a collector of OpenTelemetry's spans."""
