"""A run from its submission to its files, by commands alone, at a running `serve` with the offline rules."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runs.enums import TokenScope
from tests.browser.site import Site, served
from tests.installation import ROOT, Installation

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
SCOPES = (TokenScope.RUNS_READ, TokenScope.RUNS_WRITE, TokenScope.GATES_READ, TokenScope.GATES_DECIDE)
LEASE = "# Lease\n\nThe rent is 1,200 EUR a month, to Anna Smith, from 2026-01-01 on. Notice is thirty days.\n"


class Client:
    """The commands of a person with a token, without a terminal."""

    def __init__(self, url: str, token: str, home: Path) -> None:
        self._environ = {"PEVSITE_URL": url, "PEVSITE_TOKEN": token, "HOME": str(home), "PATH": ""}

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "manage.py", *map(str, arguments)]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, cwd=ROOT, env=self._environ, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
        )

    def json(self, *arguments: object) -> Any:
        process = self.start(*arguments, "--json")
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, ""), err
        return json.loads(out)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, installation: Installation) -> Iterator[Site]:
    """Started before a test has the key of a model in its environment."""
    with served(installation.copy(tmp_path_factory.mktemp("asked")), delay=0, PEV_API_DECIDES="on") as running:
        yield running


def asked_by(client: Client, watching: subprocess.Popen[str]) -> Iterator[tuple[str, Any]]:
    """The lines of `watch`, each with the decision that it asks for, which is approved then."""
    assert watching.stdout
    for line in watching.stdout:
        gate = None
        if " or: manage.py gates " in line:
            gate = client.json("gates", line.split()[-1])
        yield line.rstrip("\n"), gate
        if gate:
            assert client.json("approve", gate["gate"], "--fingerprint", gate["fingerprint"])["status"] == "approved"


def test_a_run_from_its_submission_to_its_files(tmp_path: Path, site: Site) -> None:
    given, results = tmp_path / "contracts", tmp_path / "results"
    given.mkdir()
    (given / "lease.md").write_text(LEASE)
    (given / ".env").write_text("PASSWORD=x")
    token = site.write("token", "alice", "ci", *SCOPES)
    client = Client(site.url, token, tmp_path)
    template = ("--template", "document-review", "--key", "1")
    run = client.json("submit", given, "-m", "Review the lease.", *template)["run"]
    assert client.json("submit", given, "-m", "Review the lease.", *template)["run"] == run
    decided, kinds, said = set[int](), list[str](), list[str]()
    with client.start("watch", run) as watching:
        for line, gate in asked_by(client, watching):
            said.append(line)
            if gate:
                kinds.append(gate["kind"])
                decided.add(gate["gate"])
    assert (watching.returncode, kinds) == (0, ["plan", "step", "step", "step", "step"])
    assert len(decided) == 5
    assert said[0].startswith("   1  ")
    assert said[-1].startswith(f"Run {run}: succeeded.")
    assert client.json("gates") == {"gates": []}
    client.json("report", run, "--format", "pdf", "-o", tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
    written = client.json("files", run, "-o", results, "--given")["written"]
    assert {"lease.md", "review/findings.md"} <= set(written)
    assert "No points were found by the rules in 1 document." in (results / "review/findings.md").read_text()
    assert (results / "lease.md").read_text() == LEASE
    late = client.start("approve", min(decided), "--fingerprint", "0" * 64)
    out, err = late.communicate(timeout=60)
    assert (late.returncode, out) == (1, "")
    assert err.startswith(f"Decision {min(decided)} is not open any more: it is approved.")


def test_a_run_is_followed_through_a_restart_of_the_server(tmp_path: Path, site: Site) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    client = Client(site.url, site.write("token", "carol", "ci", *SCOPES), tmp_path)
    run = client.json("submit", tmp_path / "lease.md", "-m", "Review.", "--template", "document-review")["run"]
    said = []
    with client.start("watch", run) as watching:
        for number, (line, gate) in enumerate(asked_by(client, watching)):
            said.append(line)
            if gate and gate["kind"] == "plan":
                site.kill()
                site.start()
            assert number < 1_000
    assert watching.returncode == 0
    numbers = [int(line.split()[0]) for line in said if line.split()[0].isdigit()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_person_steps_in(tmp_path: Path, site: Site) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    client = Client(site.url, site.write("token", "dora", "ci", *SCOPES), tmp_path)
    run = client.json("submit", tmp_path / "lease.md", "-m", "Review.", "--template", "document-review")["run"]
    states = [client.json(command, run)["state"] for command in ("pause", "resume", "stop")]
    assert (states[0], states[2]) == ("paused", "cancelled")
    again = client.start("stop", run)
    assert (again.communicate(timeout=60), again.returncode) == (("", "This run is already finished.\n"), 1)
