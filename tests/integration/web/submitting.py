"""The form of a new run as a browser posts it."""

import uuid
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from runs.web.new_run.policy_forms import PolicyForm

JSON = {"Accept": "application/json"}


def form(**changes: Any) -> dict[str, Any]:
    """The fields of the policy as the page fills them, but for checkboxes that are off."""
    page = PolicyForm()
    shown = {name: page[name].value() for name in page.policy_names}
    sent = {name: value for name, value in shown.items() if value is not None and value is not False}
    values = {"request": "Summarise the notes", "no_files": "on", "token": str(uuid.uuid4()), **sent}
    return values | changes


def file(name: str, content: bytes = b"text") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)
