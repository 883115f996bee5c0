"""Why a service cannot be reached is told in words that say what to look at."""

import ssl

import anthropic
import httpx2
import pytest

from runs.llm.failures import of_connection
from runs.llm.model_servers import ModelServer

REQUEST = httpx2.Request("POST", "http://llm.example.org/v1/messages")


def connection_error(cause: Exception) -> anthropic.APIConnectionError:
    """As the package raises it."""
    error = anthropic.APIConnectionError(request=REQUEST)
    error.__cause__ = cause
    return error


def unsafe() -> httpx2.ConnectError:
    error = httpx2.ConnectError("certificate verify failed")
    error.__cause__ = ssl.SSLError(1, "self-signed certificate")
    return error


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (httpx2.ConnectError("[Errno 111] Connection refused"), "nothing listens there"),
        (httpx2.ConnectError("[Errno -2] Name or service not known"), "there is no such host"),
        (httpx2.ConnectError("[Errno -5] No address associated with hostname"), "there is no such host"),
        (
            httpx2.ConnectError("[Errno -3] Temporary failure in name resolution"),
            "the name of its host cannot be looked up",
        ),
        (httpx2.ConnectError("[Errno 101] Network is unreachable"), "there is no way to its network"),
        (httpx2.ConnectTimeout("timed out"), "it did not answer in time"),
        (unsafe(), "there is no safe connection: self-signed certificate"),
        (httpx2.RemoteProtocolError("peer closed"), "Connection error"),
    ],
)
def test_each_cause_has_its_words(cause: Exception, reason: str) -> None:
    found = of_connection(connection_error(cause), ModelServer("http://alice:secret@llm.example.org:8443/v1"))
    assert str(found) == f"The model's service cannot be reached: llm.example.org:8443: {reason}."
    assert (found.kind, found.retriable) == ("connection_error", True)
