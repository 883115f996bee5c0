"""Whose program asks over MCP, and where the site lies for it."""

from dataclasses import dataclass

from django.urls import reverse

from runs.errors import InvalidInput
from runs.models import Run, User
from runs.people.permissions import visible_runs


@dataclass(frozen=True)
class Caller:
    """`token` is the name of the access token; `site` begins every address: scheme and host, as they were asked."""

    person: User
    token: str
    site: str

    def address(self, name: str, *arguments: object) -> str:
        """The whole address of a page, by the name of its route."""
        return self.site + reverse(name, args=arguments)

    def run(self, number: int) -> Run:
        """Raises InvalidInput, in the same words for a run that is not there and one that is not theirs to see."""
        runs = visible_runs(self.person).select_related("owner", "inputs", "head")
        run = runs.filter(pk=number).first()
        if run is None:
            raise InvalidInput(f"There is no run {number} that you may see. list_runs says which there are.")
        return run
