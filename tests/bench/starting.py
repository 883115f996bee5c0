"""Measures how long commands take on a warm installation: the link of `serve`, and the help of `run`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from tests.bench.figures import Figure, ShapeBroken

MANAGE = Path(__file__).resolve().parents[2] / "manage.py"
TIMEOUT = 60.0
"""Seconds after which a command that has printed nothing is a broken one."""


def measure(*, short: bool) -> list[Figure]:
    times = 1 if short else 5
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(folder)
        _seconds_to_link(environment)  # makes the installation
        _seconds_to_help(environment)
        links = [_seconds_to_link(environment) for _ in range(times)]
        helps = [_seconds_to_help(environment) for _ in range(times)]
    return [
        Figure("serve: to its link", median(links), "s", max=1.5),
        Figure("run --help", median(helps), "s", max=0.5),
    ]


def _environment(folder: str) -> dict[str, str]:
    """As in a terminal: the product's settings, and modules that stay compiled."""
    changed = {"DJANGO_SETTINGS_MODULE": "pevsite.settings", "PEV_DATA_DIR": folder}
    return {**{n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}, **changed}


def _seconds_to_link(environment: dict[str, str]) -> float:
    command = [sys.executable, str(MANAGE), "serve", "--port", str(_free_port())]
    began = time.monotonic()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        timer = threading.Timer(TIMEOUT, server.kill)
        timer.start()
        try:
            for line in server.stdout:
                if line.startswith("Sign in"):
                    return time.monotonic() - began
        finally:
            timer.cancel()
            server.terminate()
    raise ShapeBroken("`serve` ended without a link.")


def _seconds_to_help(environment: dict[str, str]) -> float:
    command = [sys.executable, str(MANAGE), "run", "--help"]
    began = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=TIMEOUT)
    if not done.stdout.startswith("usage:"):
        raise ShapeBroken("`run --help` printed no help.")
    return time.monotonic() - began


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
