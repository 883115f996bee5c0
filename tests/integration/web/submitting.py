"""The form of a new run as a browser posts it."""

import uuid
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from runs.enums import Role
from runs.submission.policy_defaults import default_policy

JSON = {"Accept": "application/json"}


def form(**changes: Any) -> dict[str, Any]:
    policy = default_policy()
    values: dict[str, Any] = {
        "request": "Summarise the notes",
        "no_files": "on",
        "token": str(uuid.uuid4()),
        "plan_approval": "always",
        "step_approval": "high",
        "step_moment": "after",
        "exhausted": "ask",
        "attempts": 3,
        "replans": 2,
        "parallel": 3,
        "rounds": 12,
        "max_steps": 40,
        "model_review": "medium_and_high",
        "original_pages": "layout",
        "min_confidence": "0.5",
        "min_verifier_confidence": "0",
        "min_document_bytes": 100,
        "revisions": 10,
        "questions": 5,
        "attempt_minutes": 30,
        "reuse": "on",
    }
    for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER):
        values |= {f"{role}_model": policy.model_for(role).model, f"{role}_effort": policy.model_for(role).effort}
    return values | changes


def file(name: str, content: bytes = b"text") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)
