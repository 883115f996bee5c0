"""What happens in runs: their events in order, as a list or as a stream (`event_stream`)."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runs.enums import RunStatus
from runs.errors import InvalidInput
from runs.events.kinds import read
from runs.models import AccessToken, Run
from runs.reports import contract
from runs.reports.json_report import event_of
from runs.web.api.requests import caller_of, check_names
from runs.web.api.tokens import READS_RUNS
from runs.web.history.history_rows import steps_of

router = Router(tags=["events"])
MAX_EVENTS = 1_000
"""Events in one answer."""
EVENT_STREAM = "text/event-stream"
STREAMS = "pevsite.streams"
"""The list in the ASGI scope of a request for a stream, to which a `Stream` is added if it may begin."""
_OR_STREAMS: dict[str, Any] = {
    "responses": {
        200: {
            "content": {
                EVENT_STREAM: {
                    "schema": {"type": "string"},
                    "example": 'id: 7\ndata: {"seq": 7, "kind": "step_passed", …}\n\n',
                }
            }
        }
    }
}


class EventLine(contract.Event):
    """An event as in the report, with the sentence that people read in the history."""

    sentence: str


class EventPage(BaseModel):
    """Events in order. `next` is `since` of the next request; `finished` says that no event follows these."""

    events: list[EventLine]
    next: int
    finished: bool


class EventsAsked(BaseModel):
    """Which events are wanted."""

    model_config = ConfigDict(extra="forbid")

    since: Annotated[int, Field(ge=0, lt=2**53, description="The number of the last event that is known.")] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_EVENTS)] = MAX_EVENTS


class Stream(NamedTuple):
    """A stream that may begin after event number `since`."""

    token: AccessToken
    run_id: int
    since: int


@router.get(
    "/runs/{int:run_id}/events",
    auth=READS_RUNS,
    response=EventPage,
    openapi_extra=_OR_STREAMS,
    summary="List or follow events",
)
def list_events(request: HttpRequest, run_id: int, asked: Query[EventsAsked]) -> EventPage | HttpResponse:
    """The events of a run after number `since`.

    With `Accept: text/event-stream` the answer is a stream of server-sent events that goes on until the run has ended,
    the person may no longer see it or the token no longer works. It begins after `Last-Event-ID`, or after `since`.
    """
    check_names(request.GET, EventsAsked)
    caller = caller_of(request)
    run = caller.run(run_id, only=("status", "event_count"))
    streams = getattr(request, "scope", {}).get(STREAMS)
    if streams is None:
        return events_after(run, asked.since, asked.limit)
    try:
        since = EventsAsked.model_validate({"since": request.headers.get("Last-Event-ID") or asked.since}).since
    except ValidationError as error:
        raise InvalidInput("`Last-Event-ID` is the number of an event.") from error
    streams.append(Stream(caller.token, run_id, since))
    return HttpResponse()


def events_after(run: Run, since: int, limit: int) -> EventPage:
    """The events of a run after number `since`, at most `limit`."""
    rows = list(run.events.after(since).filter(seq__lte=run.event_count)[: limit + 1])
    names = {key: steps[-1].name for key, steps in steps_of(run).items()} if rows else {}
    lines = [
        EventLine(
            **dict(event_of(row.seq, row.kind, row.at, row.data)), sentence=read(row.kind, row.data).sentence(names)
        )
        for row in rows[:limit]
    ]
    finished = run.status == RunStatus.FINISHED and len(rows) <= limit
    return EventPage(events=lines, next=lines[-1].seq if lines else since, finished=finished)
