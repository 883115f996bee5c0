"""A site to look at: `manage.py serve` in a process of its own, on a data folder of its own."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, StorageState, StorageStateCookie

from tests.installation import ROOT, unmeasured

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"),
    *("--in-process-gpu", "--disable-site-isolation-trials", "--renderer-process-limit=1"),  # a tenth less work
]


class Site:
    """A running server. `delay`: seconds per reply of the offline rules, so that there is something to watch."""

    def __init__(self, data: Path, *, delay: float = 0.15, **environ: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._environ = unmeasured(data, PEV_REHEARSAL_DELAY=str(delay), PEV_PUBLIC_URL=self.url, **environ)
        self.first_link = ""
        self.log = data.with_suffix(".log")
        self._server: subprocess.Popen[str] | None = None
        self._writer: subprocess.Popen[str] | None = None

    def start(self, *options: str) -> str:
        """Serve until `kill`; returns the sign-in link that was printed."""
        arguments = [sys.executable, "manage.py", "serve", "--port", str(self.port), *options]
        with self.log.open("a") as log:  # a pipe that nobody reads would stop the server when it is full
            self._server = subprocess.Popen(
                arguments, cwd=ROOT, env=self._environ, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._server.stdout is not None
        for line in self._server.stdout:
            link = re.search(r"http://\S+/sign-in/\S+", line)
            if link:
                return link[0]
        raise AssertionError(self.log.read_text())

    @property
    def pid(self) -> int:
        assert self._server is not None
        return self._server.pid

    def kill(self) -> None:
        """As the machine would: no warning, no clean-up."""
        if self._server is not None:
            self._server.send_signal(signal.SIGKILL)
            self._server.communicate()
            self._server = None

    def write(self, name: str, *arguments: object) -> Any:
        """What the function `name` of tests/browser/writes.py answers; served or not."""
        if self._writer is None:
            command = [sys.executable, "-m", "tests.browser.made"]
            environ = {**self._environ, "ANTHROPIC_API_KEY": "none is asked", "PEV_REHEARSAL_DELAY": "0"}
            with self.log.open("a") as log:
                self._writer = subprocess.Popen(
                    command, cwd=ROOT, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
                )
        assert self._writer.stdin is not None
        assert self._writer.stdout is not None
        print(json.dumps([name, *arguments]), file=self._writer.stdin, flush=True)
        answer = json.loads(self._writer.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["done"]

    def manage(self, *arguments: str) -> str:
        """What a management command on the same data folder prints."""
        return str(self.write("manage", *arguments))

    def account(self, name: str, *, administrator: bool = False) -> StorageState:
        """The cookies of somebody new, who is signed in."""
        key = self.write("account", name, administrator)
        cookies = [
            StorageStateCookie(
                name="sessionid",
                value=key,
                domain="127.0.0.1",
                path="/",
                expires=-1,
                httpOnly=True,
                secure=False,
                sameSite="Lax",
            )
        ]
        return StorageState(cookies=cookies, origins=[])

    def end(self) -> None:
        """End both processes."""
        self.kill()
        if self._writer is not None:
            self._writer.communicate()

    def close(self) -> None:
        """End both processes. No error may stand in the log."""
        self.end()
        assert self.errors() == []

    def errors(self) -> list[str]:
        return [line for line in self.log.read_text().splitlines() if " ERROR " in line]

    def spawn(self, *arguments: str) -> subprocess.Popen[str]:
        """A management command that goes on by itself; what it prints can be read."""
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, env=self._environ, stdout=subprocess.PIPE, text=True
        )

    def invite(self, user: str) -> str:
        """A link for somebody new."""
        return self.manage("people", "invite", user, "--base", self.url).strip()


@contextmanager
def served(data: Path, *, delay: float = 0.05, **environ: str) -> Iterator[Site]:
    """A site on this data folder, until the stories on it are over. `delay`: seconds that each call takes."""
    site = Site(data, delay=delay, **environ)
    try:
        site.first_link = site.start()
        yield site
    except BaseException:
        site.end()  # or a test that fails here would leave its server running
        raise
    site.close()


def sign_in(page: Page, link: str) -> None:
    """The two clicks: the link, and the button of its page."""
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector(".site-user")


def wait_until(page: Page, holds: str, arg: object = None, *, seconds: float = 60) -> None:
    """Ask the page until `holds` is true. Where Playwright itself asks again and again, in `wait_for_function`, it
    evaluates a text by a script of the page, and the policy of the site refuses that.
    """
    ends = time.monotonic() + seconds
    while not page.evaluate(holds, arg):
        assert time.monotonic() < ends, f"this never held: {holds}"
        time.sleep(0.05)


def wait_for_kept(page: Page, words: str) -> None:
    """Until the browser has kept these words of the form, which it does a moment after they were typed."""
    wait_until(page, "words => Object.values(localStorage).some((kept) => kept.includes(words))", words)


def by_link(browser: Browser, site: Site) -> StorageState:
    """The cookies of the administrator, who signed in with the link that the server printed."""
    context = browser.new_context()
    sign_in(context.new_page(), site.first_link)
    cookies = context.storage_state()
    context.close()
    return cookies
