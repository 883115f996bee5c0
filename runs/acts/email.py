"""An e-mail: recipients, a subject, and a text."""

import re
from collections.abc import Iterator

from runs.acts.facts import strings_in
from runs.acts.shape import DETAILS, PEOPLE, TEXT, Field, Remark, Shape, ShapedCall, Wording, names
from runs.text.plural import list_with_and
from runs.text.truncate import truncate

MAX_NAMED, MAX_ADDRESS = 3, 60
"""Addresses, and characters of each, that a remark names."""
_PART = r"[^\s@<>,;:\"()\[\]]"
_ADDRESS = re.compile(rf"(?<!{_PART}){_PART}++@(?P<domain>{_PART}++)")


def _remarks(call: ShapedCall) -> Iterator[Remark]:
    """Copies that are easily overlooked: hidden ones, and those to a domain of neither sender nor recipients."""
    known = {domain for label in ("From", "To") for domain in _addresses(call, label).values()}
    if hidden := list(_addresses(call, "Bcc")):
        yield Remark("bad", "Blind copy", f"also goes to {_named(hidden)}, which the other recipients do not see")
    for label, lead, words in (
        ("Cc", "Copy to another domain", "also goes to"),
        ("Reply to", "Replies to another domain", "go to"),
    ):
        others = [address for address, domain in _addresses(call, label).items() if domain not in known]
        if others:
            yield Remark("bad" if known else "warn", lead, f"{words} {_named(others)}")


def _addresses(call: ShapedCall, label: str) -> dict[str, str]:
    """The addresses of a field with their domains in small letters."""
    texts = [text for value in call.values(label) for text in strings_in(value)]
    found = (match for text in texts for match in _ADDRESS.finditer(text))
    return {match[0]: match["domain"].lower() for match in found}


def _named(addresses: list[str]) -> str:
    shown = [truncate(one, MAX_ADDRESS) for one in addresses[:MAX_NAMED]]
    return list_with_and([*shown, f"{more:,} more"] if (more := len(addresses) - MAX_NAMED) > 0 else shown)


SHAPE = Shape(
    "email",
    (
        Field("From", names("from sender fromaddress fromemail fromname"), PEOPLE),
        Field(
            "To",
            names(
                "to recipient recipients torecipient torecipients toaddress toaddresses toemail toemails email emails "
                "emailaddress emailaddresses recipientemail recipientemails"
            ),
            PEOPLE,
            is_decisive=True,
        ),
        Field("Cc", names("cc ccrecipients ccaddresses ccemails copyto carboncopy"), PEOPLE, is_decisive=True),
        Field(
            "Bcc", names("bcc bccrecipients bccaddresses bccemails blindcopy blindcarboncopy"), PEOPLE, is_decisive=True
        ),
        Field("Reply to", names("replyto replytoaddress"), PEOPLE),
        Field("Subject", names("subject subjectline"), TEXT),
        Field(
            "Attachments",
            names("attachment attachments attachmentpath attachmentpaths files attachedfiles"),
            DETAILS,
            has_files=True,
            is_decisive=True,
        ),
        Field(
            "Text",
            names("body text message content bodytext textbody plaintext"),
            frozenset({"string", "object"}),
        ),
        Field("Text as HTML", names("htmlbody bodyhtml html htmlcontent"), TEXT),
    ),
    (frozenset({"To", "Cc", "Bcc"}), frozenset({"Subject"}), frozenset({"Text", "Text as HTML"})),
    (
        Wording("Send this e-mail?", "Send", "Don’t send", "sending an e-mail", is_final=True),
        Wording(
            "Save this draft of an e-mail?", "Save", "Don’t save", "saving a draft of an e-mail", frozenset({"draft"})
        ),
    ),
    remarks=_remarks,
)
