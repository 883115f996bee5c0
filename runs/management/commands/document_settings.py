"""`manage.py document_settings`: the page of all settings, made from the table that the code reads."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from pevsite.environment import FIELDS, default, form, is_secret
from runs.management.terminal import TerminalCommand

_HEAD = """\
# Settings

Every setting is an environment variable. A blank value counts as none. A value that cannot be used ends each command
with a sentence that names the variable and says what is allowed; `manage.py check_setup` lists the values of this
installation without secrets, and variables that begin with `PEV_` and are no setting. `manage.py document_settings
--write docs/settings.md` makes this page from `pevsite/environment.py`.

| variable | value | default | what it does |
|---|---|---|---|
"""


class Command(TerminalCommand):
    help = "Print the page of all settings. --write puts it into a file."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--write", type=Path, metavar="FILE")

    def handle(self, *args: Any, write: Path | None, **options: Any) -> None:
        if write is None:
            self.stdout.write(page())
        else:
            write.write_text(page(), "utf-8")


def page() -> str:
    rows = []
    for name, field in FIELDS.items():
        value = f"secret: {form(field)}" if is_secret(field) else form(field)
        usual = f"`{default(field)}`" if default(field) else "–"
        rows.append(f"| `{name}` | {value} | {usual} | {field.description} |\n")
    return _HEAD + "".join(rows)
