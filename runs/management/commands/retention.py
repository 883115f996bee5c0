"""`manage.py retention`: delete runs that finished longer ago than the installation keeps them, or say which."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from runs.lifecycle import deletion
from runs.management.terminal import TerminalCommand
from runs.text.plural import pluralize

_MAX_NAMES = 20
"""Numbers of runs per line."""
_MAX_DAYS = 36_500


class Command(TerminalCommand):
    help = "Delete runs that finished more than PEV_KEEP_DAYS ago, with files that no other run uses."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")
        parser.add_argument("--days", type=int, help="keep finished runs for so many days (PEV_KEEP_DAYS)")
        parser.add_argument("--dry-run", action="store_true", help="only print what would be deleted")

    def handle(self, *args: Any, days: int | None, dry_run: bool, **options: Any) -> None:
        days = settings.KEEP_DAYS if days is None else days
        if not 1 <= days <= _MAX_DAYS:
            raise CommandError(
                f"Say for how many days finished runs are kept, from 1 to {_MAX_DAYS:,}: --days, or PEV_KEEP_DAYS."
            )
        before = timezone.now() - timedelta(days=days)
        going, staying = deletion.expired(before)
        files, size = deletion.freed(going)
        if not dry_run:
            going = deletion.delete_runs(going)
        did = "Would delete" if dry_run else "Deleted"
        self.stdout.write(f"{did} {_runs(going)} that finished before {before:%Y-%m-%d %H:%M} UTC.")
        if going:
            then = "would go" if dry_run else "go within minutes, while a server or a worker is running"
            self.stdout.write(f"{pluralize(files, 'file')} ({pluralize(size, 'byte')}) that only they had {then}.")
        if staying:
            self.stdout.write(f"Kept, because runs that stay use results of these: {_runs(staying)}.")


def _runs(numbers: list[int]) -> str:
    if not numbers:
        return "no run"
    more = f" and {len(numbers) - _MAX_NAMES:,} more" if len(numbers) > _MAX_NAMES else ""
    return f"{pluralize(len(numbers), 'run')} ({', '.join(map(str, numbers[:_MAX_NAMES]))}{more})"
