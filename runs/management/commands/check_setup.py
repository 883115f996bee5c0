"""`manage.py check_setup`: what is configured, reachable and at odds, and the values of all settings. MCP servers are
asked for their tools; nothing else changes.
"""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from pevsite.environment import FIELDS, shown, unknown_variables
from runs.engine.mcp_listings import ask
from runs.management.terminal import TerminalCommand
from runs.web.operations.setup_findings import findings


class Command(TerminalCommand):
    help = "Check the configuration of all processes and what they reach. Exit status 1 if something is wrong."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, **options: Any) -> None:
        for name in settings.MCP:
            ask(name)
        for name in FIELDS:
            self.stdout.write(f"  {name} = {shown(name)}")
        wrong = 0
        for sentence in unknown_variables():
            wrong += 1
            self.stdout.write(f"! Settings: {sentence}")
        for finding in findings():
            wrong += finding.is_wrong
            self.stdout.write(f"{'!' if finding.is_wrong else ' '} {finding.about}: {finding.text}")
        if wrong:
            raise CommandError(f"{wrong} of these need a person." if wrong > 1 else "One of these needs a person.")
