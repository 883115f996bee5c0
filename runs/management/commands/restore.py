"""`manage.py restore FILE`: restores a back-up into an empty installation, and verifies it before and after."""

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError

from runs.enums import AuditKind
from runs.errors import InvalidInput
from runs.management.terminal import TerminalCommand
from runs.operations.backup import restore
from runs.operations.backup_archive import Signer
from runs.store import audit_trail


class Command(TerminalCommand):
    help = "Fill an empty data folder and database with a back-up, and verify everything."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("file", type=Path, help="a file that manage.py backup has written")
        parser.add_argument(
            "--unsigned", action="store_true", help="accept a back-up that this installation's key has not signed"
        )
        parser.add_argument("--data-dir", help="empty folder for database and files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, file: Path, unsigned: bool, **options: Any) -> None:
        try:
            manifest, signer = restore(file, unsigned=unsigned)
        except InvalidInput as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"It could not be restored ({error.strerror}). Make room, and do it again.") from error
        self.stdout.write(f"Restored what version {manifest.version} had at {manifest.made_at}.")
        if signer is not Signer.OURS:
            self.stderr.write(f"It is signed by {signer}: whether someone has changed it was not checked.")
        call_command("migrate", verbosity=0, interactive=False)
        audit_trail.record(AuditKind.BACKUP_RESTORED, subject=file.name, name=manifest.made_at)
        call_command("verify", stdout=self.stdout, stderr=self.stderr)
