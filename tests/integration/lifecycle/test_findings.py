"""Findings in memory: the latest are kept, and one that was found again is one of them."""

from collections import OrderedDict

import pytest

from runs.lifecycle import findings


def test_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "_texts", OrderedDict())
    monkeypatch.setattr(findings, "MAX_REMEMBERED", 2)
    for fingerprint in ("a", "b", "a", "c"):
        findings.remember(fingerprint, findings.Found(f"Found {fingerprint}.", "Unsure."))
    kept = [findings.of(fingerprint) for fingerprint in "abc"]
    assert kept == [findings.Found("Found a.", "Unsure."), None, findings.Found("Found c.", "Unsure.")]
