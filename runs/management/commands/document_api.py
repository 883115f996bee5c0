"""`manage.py document_api`: the OpenAPI document of this version, made from the operations of the REST API."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from runs.management.terminal import TerminalCommand
from runs.web.api.documentation import document


class Command(TerminalCommand):
    help = "Print the OpenAPI document of the REST API. --write puts it into a file."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--write", type=Path, metavar="FILE")

    def handle(self, *args: Any, write: Path | None, **options: Any) -> None:
        if write is None:
            self.stdout.write(text())
        else:
            write.write_text(text(), "utf-8")


def text() -> str:
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"
