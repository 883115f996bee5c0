"""Submissions as tests make them."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.core.files.base import ContentFile

from runs.errors import InvalidInput
from runs.models import Event, Run, Tree
from runs.submission.intake import Upload
from runs.submission.submit import Submission, submit
from tests import factories as made


def upload(path: str, content: bytes = b"Hello.") -> Upload:
    return Upload(path, ContentFile(content))


def submission(request: str = "Write a poem.", *uploads: Upload, **changes: Any) -> Submission:
    values: dict[str, Any] = {"policy": made.policy(), "token": uuid.uuid4()}
    return Submission(request, uploads, **{**values, **changes})


def refused(given: Submission) -> str:
    with pytest.raises(InvalidInput) as caught:
        submit(made.alice(), given)
    assert (Run.objects.count(), Tree.objects.count(), Event.objects.count()) == (0, 0, 0)
    return str(caught.value)
