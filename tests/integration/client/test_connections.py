"""What a person reads when a server is away, is not trusted, or cuts the connection: over real sockets."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pevsite.client import commands

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


class _Quiet(BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"%PDF half of it")  # and the connection is closed

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name in the library
        pass


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that no authority has signed, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoded = serialization.Encoding.PEM
    private = key.private_bytes(encoded, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = tmp_path / "server.pem"
    file.write_bytes(private + made.public_bytes(encoded))
    return file


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[tuple[str, type[_Quiet]]]:
    """The address of a server that cuts its answers short, and the class that counts the requests."""

    class Handler(_Quiet):
        pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}", Handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[int, list[float]]]:
    def run(url: str, *arguments: str) -> tuple[int, list[float]]:
        """The exit code of a command against this server, and for how long it wanted to wait before each new try."""
        monkeypatch.setenv("PEVSITE_URL", url)
        monkeypatch.setenv("PEVSITE_TOKEN", "pev_" + "x" * 43)
        waits = list[float]()
        return commands.run(arguments, wait=waits.append), waits

    return run


def test_a_server_that_is_away(run: Callable[..., object], capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as (url, _):
        pass
    assert run(url, "gates") == (1, [1, 2, 4, 8])
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"{url} cannot be reached: ")
    assert said.endswith(" Check the address.")


def test_a_certificate_that_no_authority_has_signed(
    run: Callable[..., object], capsys: pytest.CaptureFixture[str], certificate: Path
) -> None:
    with serving(certificate) as (url, handler):
        assert (run(url, "gates"), handler.asked) == ((1, []), 0)
    assert capsys.readouterr().err == (
        f"The certificate of {url} is not trusted: self-signed certificate. Nothing was sent. If your organisation "
        "issues certificates itself, name the file with its own in SSL_CERT_FILE.\n"
    )


def test_a_certificate_of_the_own_organisation(
    run: Callable[..., object],
    capsys: pytest.CaptureFixture[str],
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(certificate) as (url, handler):
        assert run(url, "report", "7", "--format", "pdf", "-o", str(tmp_path / "report.pdf")) == (1, [1, 2, 4, 8])
        assert handler.asked == 5
    assert not (tmp_path / "report.pdf").exists()
    said = f"The connection to {url} broke off. Start the command again."
    assert capsys.readouterr().err.splitlines()[-1] == said


@pytest.mark.parametrize("content", ["no certificate", None])
def test_certificates_that_cannot_be_read(
    run: Callable[..., object],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    content: str | None,
) -> None:
    file = tmp_path / "own.pem"
    if content:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert run("https://127.0.0.1:9", "gates") == (1, [])
    assert capsys.readouterr().err.startswith("The certificates in SSL_CERT_FILE cannot be read: ")
