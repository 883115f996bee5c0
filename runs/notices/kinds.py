"""What each kind of notice is called in the settings of a person, and what it says."""

from __future__ import annotations

from dataclasses import dataclass

from runs.enums import NoticeKind


@dataclass(frozen=True)
class NoticeType:
    """`label`: in the settings; empty for a kind that is always sent. `subject`: one line, where `{title}` stands for
    the title of the run and `{about}` for what happened.
    """

    kind: NoticeKind
    label: str
    subject: str


NOTICES = {
    one.kind: one
    for one in (
        NoticeType(NoticeKind.DECISION_NEEDED, "A decision is needed", "Needs your decision: {title}"),
        NoticeType(NoticeKind.DECISION_DUE, "A decision is due soon", "Decide soon: {title}"),
        NoticeType(NoticeKind.ASSIGNED, "A decision is assigned to you", "Assigned to you: {title}"),
        NoticeType(NoticeKind.RUN_ENDED, "A run has ended", "Finished: {title}"),
        NoticeType(NoticeKind.ACCOUNT, "", "Your account: {about}"),
        NoticeType(NoticeKind.TEST, "", "A test of your notices"),
    )
}
"""Every kind, in the order of the settings."""
CHOOSABLE = [one for one in NOTICES.values() if one.label]
