"""What is sent: one notice, or several as one message. Title and link alone, unless the installation allows more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from runs.enums import NoticeKind
from runs.models import Notice, NoticeSettings, User
from runs.notices import account_mails
from runs.notices.kinds import NOTICES
from runs.people.time_zones import zone_of
from runs.text.plural import pluralize
from runs.text.visible import printable

ACCOUNT_PATH = "/account/methods/"
NOTICES_PATH = "/account/notices/"


@dataclass(frozen=True)
class NoticeLine:
    """One notice in words. `question`: empty where notices have no content."""

    notice: Notice
    subject: str
    link: str
    question: str = ""

    @property
    def text(self) -> str:
        due = self.notice.due_at
        limit = f"Until {due.astimezone(zone_of(self.notice.user)):%Y-%m-%d %H:%M %Z}" if due else ""
        advice = NOTICES[NoticeKind(self.notice.kind)].advice
        return "\n".join(filter(None, [self.subject, limit, self.question, advice, self.link]))


@dataclass(frozen=True)
class Message:
    """`key` is the same in each attempt to send it."""

    key: str
    person: User
    chosen: NoticeSettings
    lines: Sequence[NoticeLine]

    @property
    def subject(self) -> str:
        first, more = self.lines[0].subject, len(self.lines) - 1
        return f"{first}, and {pluralize(more, 'more notice')}" if more else first

    @property
    def body(self) -> str:
        return "\n\n".join(line.text for line in self.lines)


def each_once(notices: Sequence[Notice]) -> list[Notice]:
    """These notices, without that a decision is needed where another one says that it is assigned to the person."""
    assigned = {one.gate_id for one in notices if one.kind == NoticeKind.ASSIGNED}
    return [one for one in notices if one.kind != NoticeKind.DECISION_NEEDED or one.gate_id not in assigned]


def line_of(notice: Notice) -> NoticeLine:
    title = printable(notice.run.title if notice.run else "").strip()
    subject = NOTICES[NoticeKind(notice.kind)].subject.format(title=title, about=notice.about)
    link = str(settings.PUBLIC_URL) + path_of(notice)
    question = ""
    if notice.gate and settings.NOTICE_CONTENT != "title":
        question = printable(notice.gate.question)[:500]
    return NoticeLine(notice, " ".join(subject.split()), link, question)


def path_of(notice: Notice) -> str:
    """Where on the site the person sees and decides. The link alone decides nothing, and they have to be signed in."""
    match notice.kind:
        case NoticeKind.TEST:
            return NOTICES_PATH
        case NoticeKind.EMAIL_ADDED | NoticeKind.PASSWORD_RESET:
            return account_mails.path_of(notice)
        case _:
            return f"/runs/{notice.run_id}/" if notice.run_id else ACCOUNT_PATH
