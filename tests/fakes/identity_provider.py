"""An OpenID Connect provider on this machine: oidc-provider-mock, whose tokens and answers a test may change."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import oidc_provider_mock
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response

type Claims = dict[str, Any]
CLIENT, SECRET = "pevsite", "the-secret-of-nobody-1"


@cache
def private_key(number: int = 0) -> rsa.RSAPrivateKey:
    """Making one takes a tenth of a second."""
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


def signed(claims: Claims) -> str:
    return jwt.encode(claims, private_key(), "RS256", {"kid": "ours"})


class FakeIdentityProvider:
    """`make_token`: the ID token for the claims of a person who has signed in. `answers`: bodies with their status that
    are sent instead of the real ones, by path. `asked`: the parameters of the last request, by path.
    """

    def __init__(self) -> None:
        self.url = ""
        self.make_token: Callable[[Claims], str] = signed
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.asked: dict[str, dict[str, str]] = {}
        self.headers: dict[str, dict[str, str]] = {}
        self._mock = oidc_provider_mock.app()

    def know(self, subject: str, **claims: object) -> None:
        """A person whom the provider knows, with these claims about them."""
        answer = Client(self).put(f"/users/{subject}", json=claims)
        assert answer.status_code < 300, answer.text

    def let_in(self, address: str, subject: str) -> str:
        """Where the provider leads a person to whose browser comes to this address, and who signs in there."""
        return self._answer(address, {"sub": subject})

    def deny(self, address: str) -> str:
        return self._answer(address, {"action": "deny"})

    def _answer(self, address: str, form: dict[str, str]) -> str:
        parts = urlsplit(address)
        answer = Client(self).post(parts.path, query_string=parts.query, data=form, base_url=self.url)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        request = Request(environ)
        body = request.get_data()
        environ["wsgi.input"] = BytesIO(body)  # for the next one who reads it
        self.asked[request.path] = {**request.args.to_dict(), **parameters(f"?{body.decode()}")}
        self.headers[request.path] = dict(request.headers)
        return self._response(request.path, environ)(environ, start_response)

    def _response(self, path: str, environ: dict[str, Any]) -> Response:
        if path in self.answers:
            status, instead = self.answers[path]
            return Response(instead, status, content_type="application/json")
        if path == "/jwks":
            return Response(json.dumps(published(private_key())), content_type="application/json")
        response = Response.from_app(self._mock, environ)
        if path == "/oauth2/token" and response.status_code == 200:
            answer = json.loads(response.get_data())
            claims = jwt.decode(answer["id_token"], options={"verify_signature": False})
            response.set_data(json.dumps({**answer, "id_token": self.make_token(claims)}))
        return response


def published(key: rsa.RSAPrivateKey) -> dict[str, Any]:
    """The set of keys with which others check what this one signs."""
    public = json.loads(RSAAlgorithm.to_jwk(key.public_key()))
    return {"keys": [{**public, "kid": "ours", "use": "sig", "alg": "RS256"}]}


def is_pair(challenge: str, verifier: str) -> bool:
    """Whether this challenge was made from this verifier (RFC 7636, S256)."""
    made = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    return challenge == made


def parameters(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


class _Silent(WSGIRequestHandler):
    def log_request(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def providing() -> Iterator[FakeIdentityProvider]:
    """A provider on a port of its own."""
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # the mock serves http at localhost only without it
    provider = FakeIdentityProvider()
    server = make_server("127.0.0.1", 0, provider, threaded=True, request_handler=_Silent)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
