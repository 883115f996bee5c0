"""`manage.py check_setup`: what is configured, reachable and at odds. MCP servers are asked for their tools; else it
changes nothing.
"""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from runs.engine.mcp_listings import ask
from runs.management.terminal import TerminalCommand
from runs.web.operations.setup_findings import findings


class Command(TerminalCommand):
    help = "Say what is configured, reachable and at odds among all processes; exit status 1 if something is wrong."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, **options: Any) -> None:
        for name in settings.MCP:
            ask(name)
        wrong = 0
        for finding in findings():
            wrong += finding.is_wrong
            self.stdout.write(f"{'!' if finding.is_wrong else ' '} {finding.about}: {finding.text}")
        if wrong:
            raise CommandError(f"{wrong} of these need somebody." if wrong > 1 else "One of these needs somebody.")
