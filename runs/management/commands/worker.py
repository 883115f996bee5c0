"""`manage.py worker`: a process that carries out work and serves no pages. There may be any number, on any machines."""

import asyncio
import os
import signal
import sys
import threading
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command

from runs.enums import AuditChannel
from runs.management.commands.serve import check_files, check_messages, check_shared
from runs.management.memory import give_back_large_blocks
from runs.management.terminal import TerminalCommand
from runs.operations.settings_audit import record_changed_settings


class Command(TerminalCommand):
    channel = AuditChannel.SYSTEM
    help = "Carry out work for web processes on the same database and files."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data-dir", help="folder for files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, **options: Any) -> None:
        give_back_large_blocks()
        check_shared()
        check_messages(self.stderr)
        check_files()
        call_command("migrate", verbosity=0, interactive=False)
        record_changed_settings("worker")
        from runs.engine.process import Engine  # with the client of models; `--help` has to come at once
        from runs.operations.traces import trace_listener

        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        tell_browsers()
        engine = Engine()
        engine.start()
        self.stdout.write(f"pevsite worker {os.getpid()}: {settings.WORKERS} threads. Stop with Ctrl-C.")
        self.stdout.flush()
        stopped.wait()
        engine.stop()
        trace_listener.flush()
        sys.stdout.flush()
        os._exit(0)  # as `serve`: a model call under way would hold the process for minutes


def tell_browsers() -> None:
    """Run an event loop for messages to browsers of other processes. Without Redis there are no such messages."""
    from runs.store import broadcast  # with the channel layer

    if broadcast.is_shared():
        loop = asyncio.new_event_loop()
        broadcast.serve_from(loop)
        threading.Thread(target=loop.run_forever, name="messages", daemon=True).start()
