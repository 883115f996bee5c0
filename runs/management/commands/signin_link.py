"""`manage.py signin_link USER`: another way in, for a person who has none."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from runs.web.signin import link_for


class Command(BaseCommand):
    help = "Print a link that signs a person in once. With --create the person is added first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="user name")
        parser.add_argument("--create", action="store_true", help="add the person if unknown")
        parser.add_argument("--base", default="http://127.0.0.1:8000", help="address of the site")
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, user: str, create: bool, base: str, **options: Any) -> None:
        users = get_user_model()._default_manager
        person = users.filter(username=user).first()
        if person is None:
            if not create:
                known = ", ".join(users.order_by("username").values_list("username", flat=True)[:20]) or "nobody yet"
                raise CommandError(f"There is no user “{user}”; there are: {known}. Add one with --create.")
            person = users.model(username=user)
            person.set_unusable_password()
            person.full_clean(exclude=["password"])
            person.save()
        if not person.is_active:
            raise CommandError(f"“{user}” is not active and cannot sign in.")
        self.stdout.write(base.rstrip("/") + link_for(person))
