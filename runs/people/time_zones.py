"""The time zone of a person, in which pages show times and the time limits of decisions are counted."""

from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django.conf import settings

from runs.errors import InvalidInput
from runs.models import User

_NO_PLACES = ("posix/", "right/", "Etc/", "SystemV/")
_NOT_SHOWN = frozenset({"localtime", "Factory", "posixrules"})


@cache
def names() -> tuple[str, ...]:
    """The names that a person can choose, by region and place, and UTC."""
    known = (name for name in available_timezones() if "/" in name and not name.startswith(_NO_PLACES))
    return tuple(sorted({*known, "UTC", settings.TIME_ZONE} - _NOT_SHOWN))


def zone_of(person: User | None) -> ZoneInfo:
    """The installation's where the person has chosen none, or one that this machine no longer knows."""
    name = person.time_zone if person else ""
    try:
        return ZoneInfo(name or settings.TIME_ZONE)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(settings.TIME_ZONE)


def choose(person: User, name: str) -> None:
    """Store a time zone; an empty name is the installation's. Raises InvalidInput for one that does not exist."""
    if name and name not in names():
        raise InvalidInput("There is no such time zone. Choose one of the list, such as Europe/Berlin.")
    person.time_zone = name
    person.save(update_fields=["time_zone"])
