"""`manage.py people`: who may sign in, their links, and ending their sessions."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from pevsite.installation import PROGRAM, data_option
from runs.enums import LinkKind, PersonRole
from runs.errors import InvalidInput
from runs.management.terminal import TerminalCommand
from runs.models import User
from runs.people import accounts
from runs.people.roles import DESCRIPTIONS, NEW_PEOPLE, roles_of
from runs.web.people.sign_in_pages import link_for

_ACTIONS: Mapping[str, tuple[Callable[[User], None], str, str]] = {
    "deactivate": (
        accounts.deactivate,
        "end all sessions, links and tokens of a person; new ones only after `activate`",
        "“{}” is no longer active; all their sessions, links and access tokens have ended.",
    ),
    "activate": (
        accounts.activate,
        "let a person sign in again; ended sessions and tokens stay ended",
        "“{}” is active. A link: " + PROGRAM + " people link {}{}",
    ),
    "reset": (
        accounts.reset_sign_in,
        "remove the password, passkeys and codes of a person, and end all their sessions, links and tokens",
        "The password, passkeys and codes of “{}” are removed, and all sessions have ended. A link: "
        + PROGRAM
        + " people link {}{}",
    ),
    "signout": (
        accounts.sign_out_everywhere,
        "end all sessions, links and tokens of a person; new links can be printed",
        "“{}” is signed out everywhere; unused links and access tokens have ended too.",
    ),
}

_ROLES = "; ".join(f"{role}: {DESCRIPTIONS[role]}" for role in PersonRole)


class Command(TerminalCommand):
    help = "List and invite people, print sign-in links, and end sessions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        actions.add_parser("list", help="all people with their last sign-in")
        invite = actions.add_parser("invite", help="add a person and print an invitation: it works once, for 7 days")
        roles = actions.add_parser("roles", help="give a person these roles and no others")
        choices = list(PersonRole)
        invite.add_argument(
            "--roles", nargs="+", type=PersonRole, choices=choices, help=_ROLES, default=list(NEW_PEOPLE)
        )
        roles.add_argument("--roles", nargs="+", type=PersonRole, choices=choices, help=_ROLES, required=True)
        link = actions.add_parser("link", help="print a link that signs in once, within 10 minutes")
        for named in (invite, link):
            named.add_argument("--base", default="http://127.0.0.1:8000", help="address of the site")
        for name, (_, text, _) in _ACTIONS.items():
            actions.add_parser(name, help=text)
        for name, action in actions.choices.items():
            if name != "list":
                action.add_argument("user", help="user name")
            action.add_argument("--data-dir", default=None, help="the same as before the action")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        try:
            self.stdout.write(_carry_out(action, options))
        except InvalidInput as error:
            raise CommandError(str(error)) from error


def _carry_out(action: str, options: dict[str, Any]) -> str:
    """Carry out the action, and return what to print. Raises InvalidInput."""
    if action == "list":
        return "\n".join(_row(person) for person in User.objects.order_by("username")) or "No one yet."
    if action == "invite":
        person = accounts.invite(options["user"], options["roles"])
        return address(person, options["base"], LinkKind.INVITATION)
    person = accounts.person_named(options["user"])
    if action == "link":
        return address(person, options["base"], LinkKind.SIGN_IN)
    if action == "roles":
        accounts.set_roles(person, options["roles"])
        return f"“{person.get_username()}” is now: {', '.join(roles_of(person))}."
    apply, _, sentence = _ACTIONS[action]
    apply(person)
    return sentence.format(person.get_username(), person.get_username(), data_option(settings.DATA_DIR))


def address(person: User, base: str, kind: LinkKind) -> str:
    return base.rstrip("/") + link_for(person, kind)


def _row(person: User) -> str:
    words = ["active" if person.is_active else "not active", *roles_of(person)]
    last = f"{person.last_login:%Y-%m-%d %H:%M} UTC" if person.last_login else "never"
    return f"{person.get_username():<24} {', '.join(words):<26} last signed in: {last}"
