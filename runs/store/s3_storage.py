"""The storage of contents in an S3 bucket or a compatible service, for installations on several machines."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from tempfile import SpooledTemporaryFile
from threading import Lock
from types import SimpleNamespace
from typing import IO, Any

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from django.core.files.base import File
from django.utils import timezone
from storages.backends.s3 import S3Storage
from urllib3.exceptions import HTTPError

from runs.errors import StoreAway
from runs.models import Discarded
from runs.store.blobs import GRACE, sha256_of
from runs.text.plural import pluralize

_IN_MEMORY = 1_000_000
"""Bytes of a file that are read into memory; larger files go through a temporary file."""
MAX_BYTES = 1_000_000_000
"""Bytes of one content: far more than a run may have. It limits what a hostile bucket can write to our disk."""
MAX_SECONDS = 600.0
"""Seconds for one content, no matter how slowly it arrives."""
MAX_WORDS = 2_000_000
"""Bytes of any other answer, such as lists and errors. The library holds them in memory and parses them."""
_PIECE = 65_536  # bytes that are read at once
_TRIES = 5
_AT_ONCE = 1_000
"""Objects that one request deletes, which is the limit of S3."""
_MISSING = {"404", "NoSuchKey"}


class BucketStorage(S3Storage):  # type: ignore[misc]  # the library has no types
    """Contents under their hashes below a prefix. Each request is made `_TRIES` times at most, with pauses in between.

    Every method raises StoreAway when all of them failed, and FileNotFoundError if there is no such content. What is
    read must have the hash that is its name, or StoreAway is raised: write access to the bucket is not enough to change
    a document.
    """

    is_local = False

    def __init__(self, bucket: str, prefix: str) -> None:
        config = Config(
            connect_timeout=3,
            read_timeout=20,
            retries={"mode": "standard", "total_max_attempts": _TRIES},
            signature_version="s3v4",
            request_checksum_calculation="when_required",  # compatible services may not know the others
            response_checksum_validation="when_required",
        )
        transfer = TransferConfig(use_threads=False)  # files have at most 50 MB, for which threads do not pay off
        super().__init__(
            bucket_name=bucket, location=prefix, client_config=config, transfer_config=transfer, file_overwrite=True
        )
        self._lock = Lock()
        # One connection for all threads, not one for each: a request has a thread of its own, and connecting takes a
        # tenth of a second. Threads may share a client; of the resource only its client and what it makes are used.
        self._connections = SimpleNamespace()

    @property
    def connection(self) -> Any:
        with self._lock:
            made = super().connection
            client = made.meta.client
            # The library reads whole answers into memory before a caller sees them. The function that it sends with
            # has no public name.
            bounded = partial(_send_bounded, client._endpoint.http_session.send)
            client.meta.events.register("before-send.s3", bounded, unique_id="pevsite-bounds")
            return made

    @property
    def _client(self) -> Any:
        return self.connection.meta.client

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        held: Any = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  whoever opens it closes it
        try:
            with _as_file_errors(name):
                digest = self._download(name, held)
            if digest != sha256_of(name):
                raise StoreAway("A file in the store was changed: restore it from a back-up.")
        except BaseException:
            held.close()
            raise
        held.seek(0)
        return File(held, name)

    def _download(self, name: str, target: IO[bytes]) -> str:
        """Write a content to a file, and start again from its beginning if it breaks off. Returns its SHA-256."""
        # The library's own download waits for ever if an answer does not say its length.
        end = time.monotonic() + MAX_SECONDS
        for left in reversed(range(_TRIES)):
            digest, size = hashlib.sha256(), 0
            target.seek(0)
            target.truncate()
            body = self._client.get_object(Bucket=self.bucket_name, Key=self._normalize_name(name))["Body"]
            try:
                with closing(body):
                    while piece := body.read(_PIECE):
                        size += len(piece)
                        if time.monotonic() > end:
                            raise StoreAway(f"The store of files takes longer than {MAX_SECONDS:g} seconds to answer.")
                        if size > MAX_BYTES:
                            raise StoreAway(f"A file in the store is larger than {MAX_BYTES:,} bytes.")
                        digest.update(piece)
                        target.write(piece)
                return digest.hexdigest()
            except (BotoCoreError, HTTPError):
                if not left:
                    raise
        raise AssertionError("the last try returns or raises")

    def _save(self, name: str, content: File[Any]) -> str:
        with _as_file_errors(name):
            return str(super()._save(name, content))

    def exists(self, name: str) -> bool:
        with _as_file_errors(name):
            return bool(super().exists(name))

    def size(self, name: str) -> int:
        with _as_file_errors(name):
            return int(super().size(name))

    def touch(self, name: str) -> bool:
        """Marks a content as used, so that `garbage_collection` keeps it for a while. Returns False if there is none.

        A process that deletes the content holds the lock on the row that is updated here, so the deletion is complete
        when this continues. Without such a row, no process deletes the content before `GRACE` has passed.
        """
        rows = Discarded.objects.filter(sha256=sha256_of(name))
        if rows.exists():
            rows.update(due_at=timezone.now() + GRACE)
        return self.exists(name)

    def delete_all(self, names: Iterable[str]) -> None:
        keys = [{"Key": self._normalize_name(name)} for name in names]
        for at in range(0, len(keys), _AT_ONCE):
            with _as_file_errors("files"):
                request = {"Objects": keys[at : at + _AT_ONCE], "Quiet": True}
                if errors := self._client.delete_objects(Bucket=self.bucket_name, Delete=request).get("Errors"):
                    raise StoreAway(f"S3 did not delete {pluralize(len(errors), 'file')}: {errors[0].get('Code')}.")

    def problem(self) -> str:
        """What is wrong with the bucket, for the operator, or an empty string."""
        try:
            with _as_file_errors("bucket"):
                self._client.head_bucket(Bucket=self.bucket_name)
        except FileNotFoundError:
            return f"the bucket {self.bucket_name} is not there"
        except StoreAway as error:
            return f"the bucket {self.bucket_name} cannot be used ({error.__cause__ or error})"
        return ""


def _send_bounded(send: Callable[[Any], Any], request: Any, **_: Any) -> Any:
    """Send a request in the place of the library, and read its answer within our bounds."""
    is_content = request.stream_output
    request.stream_output = True  # or `send` would read all of it
    response = send(request)
    response.raw = _BoundedBody(response.raw)
    if not is_content or response.status_code >= 300:
        try:
            response.content  # noqa: B018  reads it into the response
        except HTTPError as error:
            raise HTTPClientError(error=error) from error  # the error after which the library tries again
    return response


class _BoundedBody:
    """The body of an answer, read in pieces as they arrive, within a time limit."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._end = time.monotonic() + MAX_SECONDS

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def read(self, amount: int) -> bytes:
        """At most `amount` bytes; none at the end. Raises StoreAway."""
        if time.monotonic() > self._end:
            self._inner.close()
            raise StoreAway(f"The store of files takes longer than {MAX_SECONDS:g} seconds to answer.")
        return bytes(self._inner.read1(amount))

    def stream(self) -> Iterator[bytes]:
        """The whole of an answer that is not a content. Raises StoreAway."""
        left = MAX_WORDS
        while piece := self.read(_PIECE):
            left -= len(piece)
            if left < 0:
                self._inner.close()
                raise StoreAway(f"The store of files answers with more than {MAX_WORDS:,} bytes.")
            yield piece


@contextmanager
def _as_file_errors(name: str) -> Iterator[None]:
    """Turn errors of botocore into StoreAway, and into FileNotFoundError for a missing content."""
    try:
        yield
    except ClientError as error:
        if str(error.response.get("Error", {}).get("Code")) in _MISSING:
            raise FileNotFoundError(name) from error
        raise StoreAway("The store of files refuses, or does not answer as it should.") from error
    except (BotoCoreError, Boto3Error, HTTPError) as error:
        raise StoreAway("The store of files does not answer.") from error
