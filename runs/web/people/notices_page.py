"""The page on which a person chooses their notices. Addresses are secrets, and are never shown again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from runs.enums import Digest, NoticeChannel, NoticeKind
from runs.errors import InvalidInput
from runs.logs import about
from runs.models import Notice, NoticeSettings, User
from runs.notices import choices
from runs.notices.browser import became_due
from runs.notices.channels.email_channel import confirmed_address
from runs.notices.channels.registry import channels_on
from runs.notices.kinds import CHOOSABLE
from runs.notices.messages import line_of, path_of
from runs.people.time_zones import zone_of
from runs.web.site.posted_fields import PostedForm, Text, verbs
from runs.web.site.requests import about_request, person

log = logging.getLogger(__name__)
_OVERLAP = timedelta(minutes=1)
_DIGESTS = {
    Digest.AT_ONCE: "At once",
    Digest.HOURLY: "Together, every hour",
    Digest.DAILY: "Together, once a day",
}
_TIME = {"invalid": "Give times as hours and minutes, such as 22:00."}
_PAIRS = [(f"{one.kind}:{channel}", "") for one in CHOOSABLE for channel in NoticeChannel]


class NoticesVerb(StrEnum):
    SAVE = "save"
    CHAT = "chat"
    REMOVE_CHAT = "remove_chat"
    WEBHOOK = "webhook"
    REMOVE_WEBHOOK = "remove_webhook"
    TEST = "test"


class NoticesForm(PostedForm):
    """`wanted`: a kind and a channel with a colon between them, for each tick."""

    verb = verbs(NoticesVerb)
    wanted = forms.MultipleChoiceField(
        choices=_PAIRS, required=False, error_messages={"invalid_choice": "Choose one of the boxes."}
    )
    digest = forms.TypedChoiceField(
        choices=[(one.value, "") for one in Digest],
        coerce=Digest,
        required=False,
        empty_value=Digest.AT_ONCE,
        error_messages={"invalid_choice": "Choose when notices are sent."},
    )
    daily_at = forms.TimeField(required=False, error_messages=_TIME)
    quiet_from = forms.TimeField(required=False, error_messages=_TIME)
    quiet_until = forms.TimeField(required=False, error_messages=_TIME)
    chat_address = Text(required=False)
    webhook_address = Text(required=False)


@dataclass(frozen=True)
class ChannelBox:
    label: str
    value: str
    is_ticked: bool


@never_cache
@require_safe
def new_notices(request: HttpRequest) -> JsonResponse:
    """For scripts: what has become due for the person after `since`, which is the `now` of the answer before. A title
    and a path, as in other notices. The last minute before is listed again, because something may have been being
    written then; the page knows what it has shown.
    """
    now = timezone.now()
    found: Sequence[Notice] = ()
    with suppress(ValueError, TypeError, OverflowError):  # no time, one without a zone, or none that there is
        since = parse_datetime(request.GET.get("since", "")) or now
        found = became_due(person(request), since - _OVERLAP, now)
    listed = [{"id": one.pk, "title": line_of(one).subject, "path": path_of(one)} for one in found]
    return JsonResponse({"now": now.isoformat(), "notices": listed})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notices(request: HttpRequest) -> HttpResponse:
    """The choices of the person who is signed in. A new secret of a webhook is shown this once."""
    if request.method != "POST":
        return _page(request)
    form = NoticesForm(request.POST)
    who = person(request)
    try:
        given = form.checked()
        secret, done = _carry_out(who, given)
    except InvalidInput as error:
        return _page(request, problem=str(error), typed=form.data, status=422)
    log.info("notices: %s", given["verb"], extra=about(**about_request(request)))
    if secret:
        return _page(request, secret=secret)
    messages.success(request, done)
    return redirect("notices")


def _carry_out(who: User, given: dict[str, Any]) -> tuple[str, str]:
    """Returns a secret to show, and the sentence for the person."""
    match given["verb"]:
        case NoticesVerb.SAVE:
            pairs = (one.split(":") for one in given["wanted"])
            times = {name: given[name] for name in ("digest", "quiet_from", "quiet_until")}
            daily_at = given["daily_at"] or NoticeSettings().daily_at
            wanted = ((NoticeKind(kind), NoticeChannel(channel)) for kind, channel in pairs)
            choices.choose(who, wanted, daily_at=daily_at, **times)
            return "", "Your choices are saved."
        case NoticesVerb.CHAT:
            choices.set_chat(who, given["chat_address"])
            return "", "Notices can be sent there. Send a test to see it."
        case NoticesVerb.REMOVE_CHAT:
            choices.remove(who, NoticeChannel.CHAT)
            return "", "The address is removed."
        case NoticesVerb.WEBHOOK:
            return choices.set_webhook(who, given["webhook_address"]), ""
        case NoticesVerb.REMOVE_WEBHOOK:
            choices.remove(who, NoticeChannel.WEBHOOK)
            return "", "The webhook is removed."
        case _:
            choices.send_test(who)
            return "", "A test is on its way. It should arrive within a minute."


def _page(request: HttpRequest, *, status: int = 200, **context: Any) -> HttpResponse:
    who = person(request)
    row = choices.settings_of([who])[who.pk]
    on = channels_on()
    columns = {NoticeChannel.BROWSER: "Browser", **{one.channel: one.label for one in on}}
    reached = [one for one in on if one.reaches(who, row)]
    context |= {
        "kinds": [
            (
                one.label,
                [
                    ChannelBox(label, f"{one.kind}:{channel}", channel in wanted)
                    for wanted in [choices.channels_for(one.kind, row)]
                    for channel, label in columns.items()
                ],
            )
            for one in CHOOSABLE
        ],
        "digests": [(one.value, label, one == row.digest) for one, label in _DIGESTS.items()],
        "row": row,
        "zone": zone_of(who),
        "is_on": {one.channel.value: True for one in on},
        "email": confirmed_address(who),
        "chat_service": row.chat_address.partition("://")[0],
        "services": [f"{one}://" for one in sorted(settings.CHAT_SERVICES)],
        "webhook_host": row.webhook_address.partition("://")[2].partition("/")[0],
        "has_content": settings.NOTICE_CONTENT != "title",
        "has_details": settings.NOTICE_CONTENT == "details",
        "can_test": bool(reached),
    }
    return render(request, "people/notices.html", context, status=status)
