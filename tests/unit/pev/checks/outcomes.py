"""The outcome of a check of one file."""

import hashlib

from runs.pev.checks.base import FileCheck
from runs.pev.checks.deciding import run_check
from runs.pev.checks.material import CheckInput


def outcome(check: FileCheck, content: str | bytes) -> tuple[bool, str]:
    data = content if isinstance(content, bytes) else content.encode()
    evidence = run_check(check, CheckInput({check.path: data}))
    assert evidence.sha256 == hashlib.sha256(data).hexdigest()
    return evidence.verified, evidence.sentence
