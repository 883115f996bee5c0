"""An HTTP request: an address, with a method, headers or a body."""

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import SplitResult, urlsplit

from runs.acts.shape import DETAILS, TEXT, Field, Remark, Shape, ShapedCall, Wording, names

_SECRETS = names(
    "authorization proxyauthorization cookie setcookie xapikey apikey xauthtoken xaccesstoken xauthorization token "
    "xcsrftoken privatetoken xgitlabtoken xsecret password"
)
MAX_HOST = 60
"""Characters of a host in a question. Of a longer one the end is shown, which says whose it is."""
_METHODS = {
    "POST": ("Send data to {}?", "Send", "sending data to {}"),
    "PUT": ("Store data at {}?", "Store", "storing data at {}"),
    "PATCH": ("Change data at {}?", "Change", "changing data at {}"),
    "DELETE": ("Delete data at {}?", "Delete", "deleting data at {}"),
    "GET": ("Fetch a page from {}?", "Fetch", "fetching a page from {}"),
}
_METHODS_IN_WORDS = {
    "POST": "sends the data below, which the other side usually stores",
    "PUT": "stores the data below and replaces what is there",
    "PATCH": "changes what is stored there",
    "DELETE": "deletes what is stored there",
    "GET": "asks for a page; what the address contains is sent along",
}


_ODD_IN_HOST = re.compile(r"[^\w.:-]")
"""A character that hosts do not have."""


def _address(call: ShapedCall) -> SplitResult | None:
    """The parts of the address; None if it has no host that can be read, or the call has several addresses."""
    if call.differs("Address"):
        return None
    try:
        found = urlsplit(call.text("Address"))
        return found if found.hostname and found.port != -1 else None
    except ValueError:
        return None


def _method(call: ShapedCall) -> str:
    """In capital letters; empty if the call has several."""
    if call.differs("Method"):
        return ""
    return call.text("Method").upper() or ("POST" if call.value("Data") is not None else "GET")


def _worded(call: ShapedCall, wording: Wording) -> Wording:
    address, words = _address(call), _METHODS.get(_method(call))
    if not address or not address.hostname or not words:
        return wording
    host = address.hostname if len(address.hostname) <= MAX_HOST else f"…{address.hostname[-MAX_HOST:]}"
    question, yes, doing = words
    return replace(
        wording, question=question.format(host), yes=yes, no=f"Don’t {yes.lower()}", doing=doing.format(host)
    )


def _remarks(call: ShapedCall) -> Iterator[Remark]:
    address, method = _address(call), _method(call)
    if address is None or address.hostname is None:
        yield Remark("bad", "Not known where it goes", _no_host(call))
        return
    if _ODD_IN_HOST.search(address.hostname):
        yield Remark("bad", "Misleading address", "it can be read as the address of another host")
    if "@" in address.netloc:
        before = address.netloc.rpartition("@")[0]
        yield Remark("bad", "Misleading address", f"“{before}@” is a name and password, not where it goes")
    if _is_own(address.hostname):
        yield Remark("calm", "Goes to", f"{address.hostname}, in your own network")
    else:
        yield Remark("warn", "Leaves for another company or person", f"everything below goes to {address.hostname}")
    if address.scheme == "http":
        yield Remark("warn", "Not encrypted", "others on the way can read and change it (http instead of https)")
    if said := _METHODS_IN_WORDS.get(method):
        yield Remark("calm", f"{method} request", said)


def _no_host(call: ShapedCall) -> str:
    return "the call has several addresses" if call.differs("Address") else "the address has no host that can be read"


def _is_own(host: str) -> bool:
    """Whether a host is this machine, or has an address of a private network.

    Link-local addresses are not: clouds hand out the keys of a machine there. Some programs read a backslash as the end
    of the host.
    """
    try:
        address = ipaddress.ip_address(host)
        return address.is_private and not address.is_link_local
    except ValueError:
        if _ODD_IN_HOST.search(host):
            return False
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal"))


SHAPE = Shape(
    "http_request",
    (
        Field("Method", names("method httpmethod verb requestmethod"), TEXT, is_decisive=True),
        Field("Address", names("url uri endpoint requesturl targeturl webhookurl"), TEXT, is_decisive=True),
        Field("Query", names("query queryparams params parameters searchparams"), DETAILS),
        Field("Headers", names("headers httpheaders requestheaders"), DETAILS, secrets=_SECRETS),
        Field("Data", names("body data json payload requestbody content"), DETAILS),
    ),
    (frozenset({"Address"}), frozenset({"Method", "Data"})),
    (
        Wording(
            "Send this HTTP request?",
            "Send",
            "Don’t send",
            "sending an HTTP request",
            # The arguments say what the request does.
            names("delete patch post put"),
            is_final=True,
        ),
    ),
    remarks=_remarks,
    worded=_worded,
)
