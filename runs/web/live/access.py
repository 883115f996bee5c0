"""Who of those who follow a run may go on doing so: all of them checked by a fixed number of queries (S4)."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from django.contrib.auth import get_user_model

from runs.models import Run
from runs.people.permissions import lacking_second_factor, who_can_see
from runs.web.site.sessions import holders


class Access(NamedTuple):
    """Whose socket it is, and when its session ends in seconds since 1970; None for a session without an end."""

    person: int
    ends: float | None


class SocketIdentity(NamedTuple):
    """What a socket says of itself: its session, or where it has none the person."""

    session_key: str | None
    person: int | None


def standing(run: Run, seats: Collection[SocketIdentity]) -> Mapping[SocketIdentity, Access]:
    """Of those who may see the run as of now. Whoever is not in it has signed out, was made inactive or taken off."""
    keys = {seat.session_key for seat in seats if seat.session_key is not None}
    held = holders(keys) if keys else {}
    named = {seat.person for seat in seats if seat.session_key is None and seat.person is not None}
    people = {one.person.pk: one.person for one in held.values()}
    if named:
        people |= get_user_model().objects.filter(is_active=True).in_bulk(named)
    may, lacking = who_can_see(run, people.values()), lacking_second_factor(people.values())
    found = {}
    for seat in seats:
        if seat.session_key is not None and seat.session_key in held:
            person, ends, has_factor = held[seat.session_key]
            if has_factor or person.pk not in lacking:
                found[seat] = Access(person.pk, ends)
        elif seat.session_key is None and seat.person in people and seat.person not in lacking:
            found[seat] = Access(people[seat.person].pk, None)
    return {seat: one for seat, one in found.items() if one.person in may}
