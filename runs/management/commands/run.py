"""`manage.py run`: the same engine without a browser. Exits 0 succeeded, 3 partial, 1 failed, 2 wrong use."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from runs.management.policy_options import add_policy_options
from runs.management.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Run one task here in the terminal, with the same engine as the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("request", nargs="?", default="", help="what is to be done")
        parser.add_argument("--files", type=Path, help="folder (or file) that the task works on; it is copied")
        parser.add_argument(
            "--no-files", action="store_true", help="there are none, although the request may sound as if there were"
        )
        parser.add_argument(
            "--include",
            action="append",
            default=[],
            metavar="PATH",
            help="a file in that folder that is left out otherwise, since it may hold secrets, such as .env",
        )
        parser.add_argument(
            "--exclude",
            action="append",
            default=[],
            metavar="PATTERN",
            help="files that nobody has to deal with: a name, a folder or a pattern such as *.pdf; they are kept",
        )
        parser.add_argument(
            "--odd-names",
            choices=["leave-out", "rename"],
            help="what is to become of files whose names cannot be used, such as “10:15.txt”; asked about otherwise",
        )
        parser.add_argument(
            "--encoding",
            action="append",
            default=[],
            metavar="FILE=ENCODING",
            help="the encoding of a text that would be guessed wrongly: a name, a folder or a pattern, and one such "
            "as Windows-1251",
        )
        parser.add_argument(
            "--sample",
            help="a sample that ships with pevsite: contracts; where a model answers also legal-review, ideas, "
            "project, three-files or density",
        )
        parser.add_argument(
            "--plan",
            type=Path,
            help="a plan as JSON, exported, written by hand or of another planner; no planner is asked",
        )
        parser.add_argument("--template", help="a template by its name, such as document-review; no planner is asked")
        parser.add_argument(
            "--approve-all", action="store_true", help="answer every gate with approve; recorded as such"
        )
        parser.add_argument("--out", type=Path, help="folder for the files made and the report")
        parser.add_argument("--report", default="markdown", help="format of the report in --out (markdown)")
        parser.add_argument("--overwrite", action="store_true", help="let --out replace files that are there already")
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of the trace")
        parser.add_argument("--user", help="whose run it is (the first administrator)")
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")
        add_policy_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        from runs.management.headless import Headless  # the engine with all it needs; `--help` has to come at once

        Headless(self.stdout, self.stderr, options).run()
