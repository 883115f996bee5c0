"""The addresses of links that sign in. There are no passwords."""

from django.urls import reverse

from runs.enums import LinkKind
from runs.models import User
from runs.people.accounts import issue


def link_for(person: User, kind: LinkKind = LinkKind.SIGN_IN) -> str:
    """The path of a new link that signs this person in once. Raises InvalidInput for one who is not active."""
    return reverse("sign_in_link", args=[issue(person, kind)])
