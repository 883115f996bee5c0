"""The OpenID Connect provider through which people may sign in, as the settings describe it."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import SecretStr

from runs.enums import PersonRole


class IdentityProvider(NamedTuple):
    """`url`: its issuer. `name`: the provider in words, on the button. `default_role`: of people without a group that
    has roles; None if they may not sign in. `has_second_factor`: it asks people for one itself.
    """

    url: str
    client_id: str
    client_secret: SecretStr
    name: str = "your organisation"
    groups_claim: str = "groups"
    roles_of_groups: Mapping[str, frozenset[PersonRole]] = {}
    default_role: PersonRole | None = None
    has_second_factor: bool = False

    def roles_for(self, groups: object) -> frozenset[PersonRole]:
        """The roles of a person with these groups: a list of names, or one name. Anything else is no group."""
        names = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        found = [self.roles_of_groups.get(name, frozenset()) for name in names if isinstance(name, str)]
        return frozenset().union(*found) or frozenset({self.default_role} if self.default_role else ())
