"""`manage.py run`: the same engine without a browser. Exits 0 succeeded, 3 partial, 1 failed, 2 wrong use."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from runs.management.policy_options import add_policy_options
from runs.management.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Run one task in the terminal, with the same engine as the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("request", nargs="?", default="", help="the task, in your own words")
        _add_file_options(parser)
        parser.add_argument(
            "--sample",
            help="a sample that ships with pevsite: contracts, and with a model also legal-review, ideas, "
            "project, three-files or density",
        )
        parser.add_argument(
            "--plan",
            type=Path,
            help="a plan as JSON: exported, written by hand, or made by another planner; no planner is asked",
        )
        parser.add_argument("--template", help="a template by its name, such as document-review; no planner is asked")
        parser.add_argument(
            "--approve-all", action="store_true", help="approve every gate; the history records that no person looked"
        )
        _add_report_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of the trace")
        parser.add_argument("--user", help="the owner of the run (the first administrator)")
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")
        add_policy_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        from runs.management.headless import Headless  # the engine with all it needs; `--help` has to come at once

        Headless(self.stdout, self.stderr, options).run()


def _add_file_options(parser: ArgumentParser) -> None:
    parser.add_argument("--files", type=Path, help="folder (or file) that the task works on; it is copied")
    parser.add_argument(
        "--no-files", action="store_true", help="there are no files, although the request mentions some"
    )
    parser.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="PATH",
        help="a file in that folder to include although it may contain secrets, such as .env",
    )
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="files to keep unread: a name, a folder or a pattern such as *.pdf",
    )
    parser.add_argument(
        "--odd-names",
        choices=["leave-out", "rename"],
        help="what to do with files whose names cannot be used, such as “10:15.txt”; asks if not given",
    )
    parser.add_argument(
        "--encoding",
        action="append",
        default=[],
        metavar="FILE=ENCODING",
        help="the encoding of a text, if the guess would be wrong: a name, a folder or a pattern, and an "
        "encoding such as Windows-1251",
    )


def _add_report_options(parser: ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, help="folder for the results and the report")
    parser.add_argument("--report", default="markdown", help="format of the report in --out (markdown)")
    parser.add_argument("--report-part", default="all", help="report, protocol, or all (all)")
    for name in ("client", "matter", "author"):
        parser.add_argument(f"--{name}", default="", help=f"the {name} that the report names")
    parser.add_argument("--overwrite", action="store_true", help="let --out replace existing files")
