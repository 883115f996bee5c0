"""`manage.py verify`: compares every content, tree, history, piece of evidence and line of the audit trail with its
hash. Changes nothing.
"""

from typing import Any

from django.core.management.base import CommandError

from runs.management.terminal import TerminalCommand
from runs.operations.verify_installation import Verified, faults
from runs.store.audit_trail import AuditCheck
from runs.text.plural import pluralize

MAX_SHOWN = 1_000
"""Lines that are printed. They are enough to show that a whole store is gone."""


class Command(TerminalCommand):
    help = (
        "Compare files, trees, histories, evidence and the audit trail with their hashes. Exit status 1 if anything "
        "differs."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument(
            "--audit-hash",
            default="",
            metavar="HASH",
            help="the hash of the newest line of the audit trail, as an earlier check printed it: a line must have it",
        )
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, audit_hash: str, **options: Any) -> None:
        seen, found = Verified(audit=AuditCheck(audit_hash.strip().lower())), 0
        for fault in faults(seen):
            found += 1
            if found <= MAX_SHOWN:
                self.stdout.write(fault)
        self.stdout.write(
            f"Looked at {pluralize(seen.contents, 'file')} ({pluralize(seen.bytes, 'byte')}), "
            f"{pluralize(seen.trees, 'tree')}, {pluralize(seen.runs, 'history', 'histories')} "
            f"and {pluralize(seen.quotes, 'quote')}."
        )
        if audited := seen.audit.lines:
            newest = seen.audit.newest
            self.stdout.write(f"The audit trail has {pluralize(audited, 'line')}. The hash of the newest is {newest}.")
        if found:
            raise CommandError(f"{pluralize(found, 'problem')} found. Restore what is named above from a back-up.")
        self.stdout.write("Everything matches its hash.")
