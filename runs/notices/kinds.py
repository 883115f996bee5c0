"""What each kind of notice is called in the settings of a person, and what it says."""

from __future__ import annotations

from dataclasses import dataclass

from runs.enums import NoticeKind


@dataclass(frozen=True)
class NoticeType:
    """`label`: in the settings; empty for a kind that is always sent. `subject`: one line, where `{title}` stands for
    the title of the run and `{about}` for what happened. `advice`: what to do, below it. `is_single`: it is never part
    of a message with others, because its address or its link is for it alone.
    `is_urgent`: it is not collected; `in_quiet_hours`: nor does it wait for the end of the quiet hours.
    """

    kind: NoticeKind
    label: str
    subject: str
    advice: str = ""
    is_single: bool = False
    is_urgent: bool = False
    in_quiet_hours: bool = False


NOTICES = {
    one.kind: one
    for one in (
        NoticeType(NoticeKind.DECISION_NEEDED, "A decision is needed", "Needs your decision: {title}"),
        NoticeType(NoticeKind.DECISION_DUE, "A decision is due soon", "Decide soon: {title}", is_urgent=True),
        NoticeType(NoticeKind.ASSIGNED, "A decision is assigned to you", "Assigned to you: {title}"),
        NoticeType(NoticeKind.RUN_ENDED, "A run has ended", "Finished: {title}"),
        NoticeType(
            NoticeKind.ACCOUNT,
            "",
            "Your account: {about}",
            "If it was not you, end your sessions there and tell your administrator.",
            is_single=True,
            is_urgent=True,
            in_quiet_hours=True,
        ),
        NoticeType(
            NoticeKind.EMAIL_ADDED,
            "",
            "Confirm your e-mail address",
            "Confirm that this address is yours and that you want notices there. If you did not add it, do nothing.",
            is_single=True,
            is_urgent=True,
            in_quiet_hours=True,
        ),
        NoticeType(
            NoticeKind.PASSWORD_RESET,
            "",
            "Set a new password",
            "Someone asked for a new password for your account. If it was not you, do nothing. The link works once, "
            "within an hour.",
            is_single=True,
            is_urgent=True,
            in_quiet_hours=True,
        ),
        NoticeType(NoticeKind.TEST, "", "A test of your notices", is_urgent=True, in_quiet_hours=True),
    )
}
"""Every kind, in the order of the settings."""
SINGLE = [one.kind for one in NOTICES.values() if one.is_single]
CHOOSABLE = [one for one in NOTICES.values() if one.label]
