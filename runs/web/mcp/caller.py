"""Who calls a tool of the MCP server: a person, through a program with an access token of theirs."""

from dataclasses import dataclass

from django.urls import reverse

from runs.errors import InvalidInput
from runs.models import Run, User
from runs.people.permissions import visible_runs


@dataclass(frozen=True)
class Caller:
    """The person whose program calls. `token` is the name of the access token, and `site` the scheme and host of the
    request, with which addresses begin.
    """

    person: User
    token: str
    site: str

    def address(self, name: str, *arguments: object) -> str:
        """Returns the absolute address of a page, by the name of its route."""
        return self.site + reverse(name, args=arguments)

    def run(self, number: int) -> Run:
        """Returns a run. Raises InvalidInput with the same words if it does not exist or the person may not see it."""
        runs = visible_runs(self.person).select_related("owner", "inputs", "head")
        run = runs.filter(pk=number).first()
        if run is None:
            raise InvalidInput(f"There is no run {number} that you may see. list_runs says which there are.")
        return run
