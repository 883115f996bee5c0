"""`manage.py signin_link USER`: the earlier name of `people link`, and with `--create` of `people invite`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from runs import accounts
from runs.enums import LinkKind
from runs.errors import InvalidInput
from runs.management.commands.people import address
from runs.management.terminal import TerminalCommand
from runs.models import User


class Command(TerminalCommand):
    help = "Print a link that signs a person in once, within 10 minutes. With --create the person is added first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="user name")
        parser.add_argument("--create", action="store_true", help="add the person if unknown")
        parser.add_argument("--base", default="http://127.0.0.1:8000", help="address of the site")
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, user: str, create: bool, base: str, **options: Any) -> None:
        try:
            unknown = create and not User.objects.filter(username=user).exists()
            person = accounts.invite(user) if unknown else accounts.named(user)
            self.stdout.write(address(person, base, LinkKind.SIGN_IN))
        except InvalidInput as error:
            raise CommandError(str(error)) from error
