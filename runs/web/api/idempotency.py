"""Sending a request again: every POST with an `Idempotency-Key` does its work once, and is answered as the first time.

As in draft-ietf-httpapi-idempotency-key-header. What was carried out is answered again for a while, also to another
token of the same person with the same scopes. A refusal does not do what was asked and is not kept, so that the same
key serves once the cause is gone.
"""

from __future__ import annotations

import hashlib
import json
import logging
import uuid
from collections.abc import Callable, Iterable
from functools import wraps
from http import HTTPStatus
from operator import itemgetter
from typing import Any

from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import resolve

from runs.errors import InvalidInput
from runs.http_client.idempotency_key import FORM, KEPT_IN_WORDS, MAX_KEY, is_usable
from runs.models import Gate, IdempotencyKey
from runs.people import idempotency_keys
from runs.people.permissions import find_visible_run
from runs.web.api.requests import token_of
from runs.web.site.problems import Refused, answer_problem

log = logging.getLogger(__name__)
MAX_ANSWER_BYTES = 100_000
"""Bytes of an answer that is kept. Nearly all have less than a tenth of that."""
RETRY_SECONDS = 5
REPLAYED = "Idempotency-Replayed"
_NOT_KEPT = (
    "This request was carried out before, and its answer was too long to be kept. Read what it has made or changed. "
    "Nothing was done now."
)
_FORMS = {"multipart/form-data", "application/x-www-form-urlencoded"}
_MEANING = (
    "A key of your choice that is new for each new request, such as a UUID. The same request of the same person with "
    f"the same key is carried out once, and for {KEPT_IN_WORDS} its answer is given again with `Idempotency-Replayed`. "
    "Answered with 422 if the key belongs to another request or to a token with other scopes, with 409 and "
    "`Retry-After` while the first one is being worked on, and with 429 for a new key while as many keys are in use as "
    "a person may have. A refused request is not remembered."
)
PARAMETER: dict[str, Any] = {
    "in": "header",
    "name": "Idempotency-Key",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_KEY,
        "pattern": FORM,
        "description": _MEANING,
    },
    "required": False,
    "description": _MEANING,
    "example": "8e03978e-40d5-43e8-bc93-6894a57f9324",
}
"""How the OpenAPI document describes the key, with each POST."""
REPLAYED_HEADER: dict[str, Any] = {
    "description": "The request was carried out before: this is the first answer again.",
    "schema": {"const": "true"},
}


def once_per_key(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Makes an operation answer as before where a key has come before. It is asked only if the caller may use it, and
    if the request fits its description.
    """

    @wraps(operation)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        key = request.headers.get("Idempotency-Key")
        if request.method != "POST" or key is None:
            return operation(request, *args, **kwargs)
        if not is_usable(key):
            raise InvalidInput(
                f"An Idempotency-Key has 1 to {MAX_KEY} characters: letters from A to Z, digits, and signs of ASCII. "
                "Nothing was changed."
            )
        try:
            claimed = idempotency_keys.claim(token_of(request).user, key, _fingerprint_of(request))
        except idempotency_keys.InProgress as error:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise Refused(HTTPStatus.CONFLICT, str(error), headers) from error
        except idempotency_keys.TooManyKeys as error:
            headers = {"Retry-After": str(error.seconds)}
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, str(error), headers) from error
        if claimed.status is not None:
            return _again(claimed, claimed.status)
        request.claimed = claimed  # type: ignore[attr-defined]
        return operation(request, *args, **kwargs)

    return answer


def id_of_made(request: HttpRequest) -> uuid.UUID:
    """The id for what a request makes. With a key, it is the same each time that the request is carried out."""
    claimed = _claimed_by(request)
    return claimed.makes if claimed else uuid.uuid4()


def answers_upload(request: HttpRequest, upload: uuid.UUID) -> None:
    """The answer to this request is about the upload, and is deleted with it."""
    claimed = _claimed_by(request)
    if claimed:
        idempotency_keys.note_upload(claimed, upload)


def settle(request: HttpRequest, response: HttpResponse) -> None:
    """Keep the answer to a request with a key if it was carried out; give the key free if it was refused.

    A refused request that had failed before may have been carried out then: it keeps its key.
    """
    claimed = _claimed_by(request)
    if claimed is None:
        return
    try:
        if response.status_code < HTTPStatus.BAD_REQUEST:
            run_id, kept = _run_of(request, response), response
            if len(response.content) > MAX_ANSWER_BYTES:
                place = {"Location": response["Location"]} if "Location" in response else None
                kept = answer_problem(HTTPStatus.CONFLICT, _NOT_KEPT, headers=place)
            idempotency_keys.keep(claimed, kept.status_code, dict(kept.items()), kept.content.decode(), run_id)
        elif response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR and not claimed.taken_over:
            idempotency_keys.forget(claimed)
        else:
            idempotency_keys.let_retry(claimed)
    except DatabaseError:  # the work is done, so its answer goes out; the claim ends by itself
        log.exception("the answer to a request with an Idempotency-Key could not be kept")


def _claimed_by(request: HttpRequest) -> IdempotencyKey | None:
    return getattr(request, "claimed", None)


def _again(claimed: IdempotencyKey, status: int) -> HttpResponse:
    """The first answer. Raises Http404 if it is about a run that the person may no longer see."""
    if claimed.run_id is not None and find_visible_run(claimed.user, claimed.run_id) is None:
        raise Http404
    return HttpResponse(claimed.body, status=status, headers=claimed.headers | {REPLAYED: "true"})


def _run_of(request: HttpRequest, response: HttpResponse) -> int | None:
    """The run that an answer is about: the one that was made, or else that of the address."""
    made = response.headers.get("Location")
    match = resolve(made) if made else request.resolver_match
    values = match.kwargs if match else {}
    if "gate_id" in values:
        return Gate.objects.filter(pk=values["gate_id"]).values_list("run_id", flat=True).first()
    return values.get("run_id")


def _fingerprint_of(request: HttpRequest) -> str:
    """The SHA-256 of the method, the address, the scopes of the token and the body.

    An answer can have parts that a token with other scopes may not read, so such a token makes another request.

    A form counts by its fields and files, because the boundaries between them are others each time that it is sent.
    Files are read in pieces.
    """
    found = hashlib.sha256()

    def add(*part: object) -> None:
        found.update(json.dumps(part).encode() + b"\n")

    add(request.method, request.get_full_path(), token_of(request).chosen_scopes)
    if request.content_type in _FORMS:
        for name, values in sorted(request.POST.lists(), key=itemgetter(0)):
            add("field", name, values)
        for name, files in sorted(request.FILES.lists(), key=itemgetter(0)):
            for file in files:
                add("file", name, file.name, _sha256(file.chunks()))
    else:
        add("body", _sha256([request.body]))
    return found.hexdigest()


def _sha256(pieces: Iterable[bytes]) -> str:
    found = hashlib.sha256()
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()
