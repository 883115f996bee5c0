"""Describes failures of a model's service in words, and says whether they may be temporary."""

import re
import ssl
from datetime import UTC, datetime

import anthropic
import httpx2

from runs.errors import ModelError
from runs.http_client.bounded_reading import AnswerRefused
from runs.http_client.retry_after import seconds_to_wait
from runs.llm import cleaning
from runs.llm.model_servers import ModelServer

_RETRIABLE = {
    "rate_limit_error",
    "overloaded_error",
    "api_error",
    "timeout_error",
    "connection_error",
    "incomplete_stream",
}
_FINAL = {
    "invalid_request_error",
    "authentication_error",
    "billing_error",
    "permission_error",
    "not_found_error",
    "request_too_large",
    "context_window_exceeded",
}
TOO_LONG = "context_window_exceeded"
_TOO_LONG = re.compile(r"prompt is too long|exceeds?\b.{0,60}\bcontext|context (?:size|length|window)", re.IGNORECASE)
"""The wording of Anthropic's service, llama.cpp, vLLM and Ollama."""
_NO_CREDIT = re.compile(r"credit balance is too low", re.IGNORECASE)
"""Anthropic's service reports it as an invalid request (400)."""
_KINDS = {408: "timeout_error", 409: "api_error", 429: "rate_limit_error", 529: "overloaded_error"}


def failure(kind: str, sentence: str, retry_after: float | None = None, status: int = 0) -> ModelError:
    """Creates the error. `status` decides if `kind` is not a word of the API: other servers have their own."""
    own_word = kind in _RETRIABLE or kind in _FINAL
    passing = kind in _RETRIABLE or (not own_word and (status == 200 or status >= 500))
    return ModelError(
        cleaning.words(sentence),
        kind=kind,
        retriable=passing or status in _KINDS,
        retry_after=retry_after,
    )


def says_too_long(error: ModelError) -> bool:
    """Whether the question was refused because it is longer than the model can read."""
    return error.kind == TOO_LONG


def of_status(error: anthropic.APIStatusError, server: ModelServer) -> ModelError:
    """Describes an error response."""
    status = error.status_code
    unknown = "invalid_request_error" if 300 <= status < 500 else "api_error"
    kind = cleaning.name(str(error.type or _KINDS.get(status) or unknown), 80)
    key = server.key_names[0] if server.key_names else server.set_by[1]
    sentences = {
        "authentication_error": f"The model's service ({server.host}) refused the API key (401). Check {key}.",
        "permission_error": f"The API key may not use this model at {server.host} (403). Check {key}.",
        "not_found_error": f"The model's service ({server.host}) does not know this model (404).",
        "rate_limit_error": "The model's service asks to wait: too many requests (429).",
        "overloaded_error": "The model's service is overloaded (529).",
    }
    if status in (400, 413) and _TOO_LONG.search(_own_words(error)):
        kind = TOO_LONG
    if status == 400 and _NO_CREDIT.search(_own_words(error)):
        kind = "billing_error"
    sentence = sentences.get(kind) or f"The model's service answered {status}: {_own_words(error)}"
    wait = seconds_to_wait(error.response.headers.get("retry-after", ""), datetime.now(UTC))
    return failure(kind, sentence, wait, status)


def _own_words(error: anthropic.APIStatusError) -> str:
    """Returns the service's own words, without JSON if it has the API's form."""
    match error.body:
        case {"error": {"message": str(message)}} if message:
            return cleaning.words(message)[:300]
    return cleaning.words(error.message)[:300]


def of_connection(error: anthropic.APIConnectionError, server: ModelServer) -> ModelError:
    """Describes why there was no connection. The library gives the same message for every reason."""
    cause = error.__cause__
    if isinstance(cause, AnswerRefused):
        return of_refusal(cause, server)
    reasons = {
        "Name or service not known": "there is no such host",
        "No address associated": "there is no such host",
        "Temporary failure in name resolution": "the name of its host cannot be looked up",
        "Connection refused": "nothing listens there",
        "unreachable": "there is no way to its network",
    }
    found = next((words for part, words in reasons.items() if part in str(cause)), str(error))
    if isinstance(cause, httpx2.TimeoutException):
        found = "it did not answer in time"
    elif isinstance(cause, httpx2.ConnectError) and isinstance(_root(cause), ssl.SSLError):
        found = f"there is no safe connection: {_root(cause)}"
    return failure("connection_error", f"The model's service cannot be reached: {server.host}: {found.rstrip('.')}.")


def of_refusal(error: AnswerRefused, server: ModelServer) -> ModelError:
    """Describes an answer that was not read."""
    return failure("incomplete_stream", f"The model's service ({server.host}) was not understood: {error}.")


def _root(error: BaseException) -> BaseException:
    while (earlier := error.__cause__ or error.__context__) is not None:
        error = earlier
    return error
