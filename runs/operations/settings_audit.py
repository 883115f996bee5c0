"""Records in the audit trail with which settings and which version a process starts, where they differ from its last
start.
"""

import hashlib
import os
from collections.abc import Mapping

from django.conf import settings
from django.utils.crypto import salted_hmac

from pevsite.environment import FIELDS, is_secret, shown
from pevsite.installation import version
from runs.enums import AuditKind
from runs.models import AuditEntry
from runs.store import audit_trail, event_log

_MAX_SHOWN = 300
"""Characters of a value that a line shows. The hash of a longer one tells whether it has changed."""
_UNSET = "not set"


def record_changed_settings(command: str) -> None:
    """Record each setting, and the version, that differs from the last start of this command: its value before and now.

    Secrets are shown as marks that only this installation's key can make, so that a change shows and nothing else.
    """
    with event_log.writing():
        audit_trail.lock()  # so that of two processes that start at once, only one records a change
        known = _known(command)
        for name, value in _values().items():
            before = known.get(name, _UNSET)
            if value != before:
                audit_trail.record(AuditKind.SETTING_CHANGED, subject=command, name=name, before=before, after=value)


def _known(command: str) -> Mapping[str, str]:
    """The values that were recorded last for this command, by variable."""
    lines = AuditEntry.objects.filter(kind=AuditKind.SETTING_CHANGED, subject=command).order_by("number")
    return {details["name"]: details.get("after", "") for details in lines.values_list("details", flat=True)}


def _values() -> Mapping[str, str]:
    values = {"version": version(), **{name: _value(name) for name in FIELDS}}
    if settings.MCP:  # the file may change while its path stays
        values["PEV_MCP"] += f", with content {_mark(repr(settings.MCP))}"
    return values


def _value(name: str) -> str:
    text = os.environ.get(name, "").strip()
    if not text:
        return _UNSET
    if is_secret(FIELDS[name]):
        return f"a secret, {_mark(text)}"
    text = shown(name)
    if len(text) <= _MAX_SHOWN:
        return text
    return f"{text[:_MAX_SHOWN]}… with hash {hashlib.sha256(text.encode(errors='replace')).hexdigest()[:16]}"


def _mark(text: str) -> str:
    return salted_hmac("pevsite.settings", text, algorithm="sha256").hexdigest()[:16]
