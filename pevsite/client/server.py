"""Requests to the REST API of a server, and what its refusals mean."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO, Any

import httpx2

from pevsite.client.account import Account
from pevsite.client.failure import Failed
from runs.http_client.retry_after import seconds_to_wait

MAX_TRIES = 5
MAX_WAIT_SECONDS = 120.0
"""The longest that one `Retry-After` is obeyed. The API counts requests by minutes."""
_TIMEOUT = httpx2.Timeout(60, connect=20)
_BUSY = {429, 502, 503, 504}
"""The statuses after which a request is sent again, also without `Retry-After`."""


class Server:
    """The API as the person of the access token. `transport` and `wait` are others in tests."""

    def __init__(
        self,
        account: Account,
        transport: httpx2.BaseTransport | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = account.url
        self.wait = wait
        self._client = httpx2.Client(
            base_url=f"{account.url}/api/v1",
            headers={"Authorization": f"Bearer {account.token}", "User-Agent": "pevsite"},
            timeout=_TIMEOUT,
            transport=transport,  # redirects are not followed: the token is for this server
        )

    def get(self, path: str, **query: str | int) -> Any:
        """The JSON of an answer. Raises Failed."""
        with self._answer("GET", path, params=query) as response:
            response.read()
            return _json_of(response)

    def post(self, path: str, *, key: str | None = None, **body: Any) -> Any:
        """The JSON of an answer. The request is sent again if the server was busy or away, and is carried out once: by
        its Idempotency-Key. Raises Failed.
        """
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        with self._answer("POST", path, headers=headers, **body) as response:
            response.read()
            return _json_of(response)

    def download(self, path: str, into: IO[bytes], **query: str | int) -> None:
        """Write the bytes of an answer. Raises Failed."""
        with self._answer("GET", path, params=query) as response:
            try:
                for chunk in response.iter_bytes():
                    into.write(chunk)
            except httpx2.HTTPError as error:
                raise Failed(f"The connection to {self.url} broke off. Start the command again.") from error

    @contextmanager
    def _answer(self, method: str, path: str, **request: Any) -> Iterator[httpx2.Response]:
        """An answer of success, whose body is not read yet. Raises Failed."""
        for left in reversed(range(MAX_TRIES)):
            try:
                response = self._client.send(self._client.build_request(method, path, **request), stream=True)
            except httpx2.HTTPError as error:
                if left and isinstance(error, httpx2.TransportError):
                    self.wait(MAX_TRIES - left)
                    continue
                raise Failed(f"{self.url} cannot be reached: {_reason(error)}. Check the address.") from error
            try:
                if response.is_success:
                    yield response
                    return
                response.read()
            except httpx2.HTTPError as error:
                raise Failed(f"The connection to {self.url} broke off. Start the command again.") from error
            finally:
                response.close()
            asked = seconds_to_wait(response.headers.get("Retry-After", ""), datetime.now(UTC))
            # A conflict that passes: the server is still working on the same request, which it did not answer in time.
            is_in_progress = response.status_code == httpx2.codes.CONFLICT and asked is not None
            is_busy = response.status_code in _BUSY or is_in_progress
            if not left or not is_busy or (asked or 0) > MAX_WAIT_SECONDS:
                raise self._failure(response)
            self.wait(MAX_TRIES - left if asked is None else asked)

    def _failure(self, response: httpx2.Response) -> Failed:
        status, sentence = response.status_code, _sentence_of(response)
        if response.has_redirect_location:
            sentence = f"{self.url} sends requests on to {response.headers['Location'][:200]}. Sign in at that address."
        elif not sentence:
            sentence = f"{self.url} answered with status {status} and no reason. Is pevsite at this address?"
        elif status == httpx2.codes.UNAUTHORIZED:
            sentence = (
                f"{sentence} Make a token on the page “Access tokens”, and sign in with: pevsite login {self.url}"
            )
        return Failed(sentence, status=status)


def _json_of(response: httpx2.Response) -> Any:
    try:
        return response.json()
    except ValueError as error:
        raise Failed("The answer cannot be read. Is pevsite at this address?", status=response.status_code) from error


def _sentence_of(response: httpx2.Response) -> str:
    """The sentence of problem details, with the fields that cannot be used; empty if the answer has none."""
    try:
        problem = response.json()
        fields = [f"{one['where']}: {one['sentence']}." for one in problem.get("fields", [])]
        return " ".join([str(problem["detail"]), *fields])
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""


def _reason(error: httpx2.HTTPError) -> str:
    if isinstance(error, httpx2.TimeoutException):
        return "it did not answer in time"
    return str(error).rstrip(".") or type(error).__name__
