"""A server that speaks as S3 does, in a thread of this process, and refuses or breaks on demand."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from typing import Any

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

type _App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
BUCKET = "files"


class _Silent(WSGIRequestHandler):
    def log_request(self, *args: Any, **values: Any) -> None:
        pass


class S3:
    """`fail_every`: each so-manyth request fails with 500, 0 for none. `refused` and `asked` count requests."""

    def __init__(self) -> None:
        self.fail_every = 0
        self.asked = self.refused = 0
        self._turns = itertools.count(1)
        self._app: _App = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=_Silent)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.variables = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, name="s3", daemon=True).start()
        self.client().create_bucket(Bucket=BUCKET)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def client(self) -> Any:
        """For who looks into the bucket from outside."""
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            region_name="us-east-1",
        )

    def names(self) -> list[str]:
        return [one["Key"] for one in self.client().list_objects_v2(Bucket=BUCKET).get("Contents", ())]

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.asked += 1
        if self.fail_every and next(self._turns) % self.fail_every == 0:
            self.refused += 1
            length = int(environ.get("CONTENT_LENGTH") or 0)
            environ["wsgi.input"].read(length)
            start_response("500 Internal Server Error", [("Content-Type", "application/xml")])
            return [b"<Error><Code>InternalError</Code><Message>on demand</Message></Error>"]
        return self._app(environ, start_response)
