"""Owns the offline rules: what answers the real client when there is no key. Rules, no AI."""

from runs.llm.offline.transport import EXECUTOR, MODELS, PLANNER, VERIFIER, OfflineTransport

__all__ = ["EXECUTOR", "MODELS", "PLANNER", "VERIFIER", "OfflineTransport"]
