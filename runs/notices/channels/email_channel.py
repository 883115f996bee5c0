"""Notices by e-mail: to the confirmed address of a person, through the mail server of the settings."""

from __future__ import annotations

import smtplib
from email.utils import parseaddr

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage

from runs.enums import NoticeChannel
from runs.models import NoticeSettings, User
from runs.notices.channels.channel import DeliveryChannel, NotSent, Undeliverable
from runs.notices.kinds import SINGLE
from runs.notices.messages import NOTICES_PATH, Message

_MAX_SUBJECT = 150


class EmailChannel(DeliveryChannel):
    channel = NoticeChannel.EMAIL
    label = "E-mail"

    def is_on(self) -> bool:
        return bool(settings.MAILERS)

    def reaches(self, person: User, chosen: NoticeSettings) -> bool:
        return confirmed_address(person) != ""

    def send(self, message: Message) -> None:
        address = message.lines[0].notice.address or confirmed_address(message.person)
        if not address:
            raise Undeliverable("The person has no confirmed e-mail address.")
        is_single = message.lines[0].notice.kind in SINGLE
        foot = "" if is_single else f"\n\n-- \nWhich notices you get: {settings.PUBLIC_URL}{NOTICES_PATH}"
        mail = EmailMessage(
            message.subject[:_MAX_SUBJECT],
            message.body + foot,
            to=[address],
            headers={"Message-ID": message_id(message.key), "Auto-Submitted": "auto-generated"},
        )
        try:
            mail.send()
        except smtplib.SMTPRecipientsRefused as error:
            code, said = next(iter(error.recipients.values()))
            raise (Undeliverable if code >= 500 else NotSent)(
                f"The mail server refused the address: {_words(said)}"
            ) from error
        except smtplib.SMTPResponseException as error:
            sentence = f"The mail server answered {error.smtp_code}: {_words(error.smtp_error)}"
            raise NotSent(sentence, everyone=not isinstance(error, smtplib.SMTPDataError)) from error
        except (smtplib.SMTPException, OSError) as error:
            raise NotSent(f"The mail server could not be reached: {_words(str(error))}", everyone=True) from error


def confirmed_address(person: User) -> str:
    """The confirmed e-mail address of a person that comes first; empty for none."""
    found = EmailAddress.objects.filter(user=person, verified=True).order_by("-primary", "pk")
    return str(found.values_list("email", flat=True).first() or "")


def message_id(key: str) -> str:
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2]
    return f"<{key}@{domain}>"


def _words(said: bytes | str) -> str:
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    return " ".join(text.split())[:300] or "no reason given"


CHANNEL = EmailChannel()
