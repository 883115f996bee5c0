"""`manage.py backup FILE`: writes rows and files as of one moment into a file, while the installation works."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from runs.enums import AuditKind
from runs.errors import InvalidInput
from runs.management.terminal import TerminalCommand
from runs.operations.backup import back_up
from runs.store import audit_trail
from runs.text.plural import pluralize


class Command(TerminalCommand):
    help = "Back up database and files into one file while the site runs. The key is not included."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("file", type=Path, help="the file to write; it must not exist yet")
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            manifest = back_up(file.absolute(), self.stderr.write)
        except InvalidInput as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{file} could not be written ({error.strerror}). Nothing is left of it.") from error
        if audit_trail.is_there():
            audit_trail.record(AuditKind.BACKED_UP, subject=file.name, count=manifest.contents)
        size = file.stat().st_size
        self.stdout.write(f"{file}: the database and {pluralize(manifest.contents, 'file')}, {size:,} bytes.")
