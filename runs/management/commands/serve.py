"""`manage.py serve`: one process with the site, the sockets and the engine."""

import gc
import os
import socket
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, OutputWrapper

from pevsite.command_line import lost
from pevsite.installation import PROGRAM, data_option
from runs.engine import probes
from runs.engine.database import AWAY
from runs.enums import AuditChannel
from runs.errors import InvalidInput
from runs.management.memory import give_back_large_blocks
from runs.management.terminal import TerminalCommand
from runs.operations.settings_audit import record_changed_settings
from runs.operations.traces import trace_listener
from runs.people.accounts import first_administrator
from runs.store import blobs
from runs.submission.policy_presets import current_service, default_policy
from runs.text.domains import is_loopback
from runs.web.people.sign_in_pages import link_for

if TYPE_CHECKING:
    from runs.engine.process import Engine


MAX_FILES = 65_536
"""The most open files that a process needs. With a limit of millions, starting programs becomes slow."""


class Command(TerminalCommand):
    channel = AuditChannel.SYSTEM
    help = "Prepare the data folder, start the site and its engine, and print a link to sign in."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")
        parser.add_argument("--no-engine", action="store_true", help=f"serve only: {PROGRAM} worker does the work")
        parser.add_argument("--data-dir", help="folder for database and files (.data, or PEV_DATA_DIR)")

    def handle(self, *args: Any, host: str, port: int, no_engine: bool, **options: Any) -> None:
        give_back_large_blocks()
        check_free(host, port)
        if no_engine:
            check_shared()
        check_messages(self.stderr)
        check_files()
        try:
            default_policy()
        except InvalidInput as error:
            raise CommandError(str(error)) from error
        if host not in {*settings.ALLOWED_HOSTS, "0.0.0.0", "::"}:
            settings.ALLOWED_HOSTS.append(host)
        call_command("migrate", verbosity=0, interactive=False)
        record_changed_settings("serve")
        self._serve(host, port, 0 if no_engine or settings.ENGINE == "celery" else None)

    def _greet(self, host: str, port: int) -> None:
        shown = "127.0.0.1" if host in {"0.0.0.0", "::"} else host
        shown = f"[{shown}]" if ":" in shown else shown
        base = f"http://{shown}:{port}"
        self.stdout.write(f"pevsite on {base}    data in {settings.DATA_DIR}")
        self.stdout.write(current_service().for_operators)
        if hint := probes.hint(os.environ):
            self.stdout.write(hint + data_option(settings.DATA_DIR))
        self.stdout.write(f"Sign in (works once, within 10 minutes): {base}{link_for(first_administrator())}")
        self.stdout.write(f"Another link: {PROGRAM} people link USER --base {base}{data_option(settings.DATA_DIR)}")
        if settings.ENGINE == "celery":
            self.stdout.write(f"This process serves only: {PROGRAM} worker does the work, on this or any machine.")
        self.stdout.write("Stop with Ctrl-C.")
        if not is_loopback(host):
            self.stdout.write(self.style.ERROR(warning(host, port)))
        self.stdout.flush()

    def _serve(self, host: str, port: int, workers: int | None) -> None:
        # Imported here, so that `--help` comes at once.
        from daphne.endpoints import build_endpoint_description_strings
        from daphne.server import twisted_loop

        from pevsite.asgi import application
        from runs.store.broadcast import serve_from
        from runs.web.server.web_server import Server

        engines: list[Engine] = []

        def start_engine() -> None:
            from runs.engine.process import Engine  # with the client of models, which takes a second to import

            with self._or_end():
                # Added before it starts, so that it is stopped even if the server ends in between.
                engines.append(Engine(workers, serves=True))
                engines[0].start()
            # What is loaded now stays: no collection has to look at it again, which would halt every page meanwhile.
            gc.collect()
            gc.freeze()

        def ready() -> None:
            with self._or_end():
                self._greet(host, port)  # only now, when the site listens and the link works
            serve_from(twisted_loop)
            threading.Thread(target=start_engine, name="engine", daemon=True).start()

        endpoints = build_endpoint_description_strings(host=host, port=port)
        files = raise_file_limit()
        Server(application, files, endpoints=endpoints, ready_callable=ready, server_name="pevsite").run()
        for engine in engines:
            engine.stop()
        trace_listener.flush()
        sys.stdout.flush()
        os._exit(0)  # a model call under way would hold the process for minutes; its lease was given back

    @contextmanager
    def _or_end(self) -> Iterator[None]:
        """End the process if the database is lost: no site may run without its engine. A supervisor restarts it."""
        try:
            yield
        except AWAY as error:
            self.stderr.write(lost(error))
            self.stderr.flush()
            os._exit(1)


def check_free(host: str, port: int) -> None:
    """Raises CommandError with one line if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        raise CommandError(f"Cannot listen on {host}:{port} ({error}). Choose another with --port.") from error


def check_shared() -> None:
    """Raises CommandError without Redis, which carries messages between processes and counts for all of them."""
    if not settings.REDIS_URL:
        raise CommandError(
            "Several processes need Redis: set PEV_REDIS_URL, the same for all, and on several machines also "
            f"PEV_DATABASE_URL. Without Redis, `{PROGRAM} serve` by itself does everything."
        )


def check_messages(stderr: OutputWrapper) -> None:
    """Write a warning if Redis is configured and does not answer; work goes on without it. Raises CommandError for an
    address that cannot be read.
    """
    for address in settings.CHANNEL_LAYERS["default"].get("CONFIG", {}).get("hosts", ()):
        from redis import Redis, RedisError  # an optional extra

        try:
            Redis.from_url(address, socket_connect_timeout=5, socket_timeout=5).ping()
        except RedisError as error:
            stderr.write(f"Redis does not answer: {error} Start it, or correct PEV_REDIS_URL.")
        except ValueError as error:
            raise CommandError("PEV_REDIS_URL cannot be read: write redis://:password@host:6379/0.") from error


def check_files() -> None:
    """Raises CommandError if files cannot be read and stored."""
    if problem := blobs.store().problem():
        remedy = "" if blobs.store().is_local else " Correct PEV_BLOBS and the AWS_… variables, or start the store."
        raise CommandError(f"Files have no place: {problem}.{remedy}")


def warning(host: str, port: int) -> str:
    """A notice in a frame for people who start a server for a whole network."""
    if settings.TLS:
        lines = [
            f"LET ONLY THE PROXY REACH {host}:{port}",
            "With PEV_TLS=on the site believes what it says of clients (X-Forwarded-Proto, X-Forwarded-For).",
            "What the proxy has to limit: docs/operating.md, “Behind a TLS proxy”.",
        ]
    else:
        lines = [
            f"NOT ENCRYPTED: the site listens on {host}:{port} without TLS",
            "Anyone on the way can read and change everything: sign-in links, sessions, documents, decisions.",
            "Put a TLS proxy in front and set PEV_TLS=on (docs/operating.md), or use --host 127.0.0.1.",
        ]
    bar = "!" * (max(map(len, lines)) + 4)
    return "\n".join(["", bar, *(f"! {line}" for line in lines), bar])


def raise_file_limit() -> int:
    """Raise the limit of open files and connections to what the system allows, up to MAX_FILES."""
    try:
        import resource  # not on Windows, which has no such limit
    except ImportError:
        return MAX_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return wanted if soft == resource.RLIM_INFINITY else soft
