"""Traces: what runs, steps, attempts and calls took, told to whatever collects OpenTelemetry's spans."""
