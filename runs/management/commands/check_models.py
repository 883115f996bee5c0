"""`manage.py check_models`: whether the model of each role answers, and what its server honours.

Exits 0 when every role can be used, else 1; 2 wrong use.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError

from runs.management.terminal import TerminalCommand

SECONDS = 180.0
"""Seconds for all questions to one model. A local server may have to load it first."""
MAX_SECONDS = 3_600.0


class Command(TerminalCommand):
    help = "Ask the model of each role a few short questions and store what its server supports."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seconds", type=float, default=SECONDS, help="the most seconds for each model (180)")
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, seconds: float, **options: Any) -> None:
        from runs.management.model_checks import check  # with the client of models; `--help` has to come at once

        if not 0 < seconds <= MAX_SECONDS:
            raise CommandError(f"--seconds has to be more than 0 and at most {MAX_SECONDS:,.0f}.", returncode=2)
        call_command("migrate", verbosity=0, interactive=False)
        if unusable := check(self.stdout.write, seconds):
            raise CommandError(f"Not every role can be used: {', '.join(unusable)}.")
        self.stdout.write("\nEvery role can be used.")
