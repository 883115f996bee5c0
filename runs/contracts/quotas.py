"""What people may use at most, as an installation declares it."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from runs.contracts.base import Contract


class Quota(Contract):
    """The most that may be used; None for no limit.

    * `runs` are in progress or wait for a decision at the same time.
    * `gigabytes` (of 10^9 bytes) are those of the files of all runs that were not deleted.
    * `usd` are spent within a calendar month.
    """

    runs: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    gigabytes: Annotated[Decimal, Field(ge=0, le=1_000_000)] | None = None
    usd: Annotated[Decimal, Field(ge=0, le=10_000_000, decimal_places=2)] | None = None


class Quotas(Contract):
    """The quotas of an installation: of each person, by user name or else `everyone`; and of the members of a group
    together, by the name of the group.
    """

    everyone: Quota = Quota()
    people: dict[str, Quota] = {}
    groups: dict[str, Quota] = {}

    @property
    def is_set(self) -> bool:
        return self != Quotas()
