"""A client that openapi-python-client generates from the OpenAPI document, at a server with the offline rules."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from runs.enums import TokenScope
from tests.api_examples import LEASE, SERVICES, TEMPLATE, WAIT_SECONDS
from tests.browser.site import Site, served
from tests.installation import ROOT, Installation

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
SCOPES = (TokenScope.RUNS_READ, TokenScope.RUNS_WRITE, TokenScope.GATES_READ, TokenScope.GATES_DECIDE)
PACKAGE = "generated_client"
SETTINGS = """\
content_type_overrides:
  application/zip: application/octet-stream
post_hooks: []
"""
"""A zip is bytes for the generator, as docs/api says. Its code is not formatted."""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of the package, which can be imported. A warning of the generator is a failure."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "settings.yml").write_text(SETTINGS)
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning", "--meta", "none"]
    command += ["--path", "docs/api/openapi.json", "--output-path", str(folder / PACKAGE)]
    command += ["--config", str(folder / "settings.yml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "warning" in f"{done.stdout}{done.stderr}".casefold()) == (0, False), done.stdout
    sys.path.insert(0, str(folder))
    yield PACKAGE
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, installation: Installation) -> Iterator[Site]:
    data = installation.copy(tmp_path_factory.mktemp("asked"))
    with served(data, delay=0, PEV_API_DECIDES="on", ANTHROPIC_API_KEY="") as running:
        yield running


class Program:
    """Calls operations by their names, as functions of the generated package."""

    def __init__(self, package: str, client: Any) -> None:
        self._package, self._client = package, client

    def data(self, name: str, **fields: Any) -> Any:
        """An object of the class with this name, which may contain files."""
        return getattr(import_module(f"{self._package}.models"), name)(**fields)

    def file(self, name: str, text: str) -> Any:
        content = io.BytesIO(text.encode())
        return import_module(f"{self._package}.types").File(payload=content, file_name=name, mime_type="text/markdown")

    def answer(self, area: str, operation: str, **arguments: Any) -> Any:
        """The whole answer: its status, its bytes, and `parsed` as an object of the package."""
        module = import_module(f"{self._package}.api.{area}.{operation}")
        return module.sync_detailed(client=self._client, **arguments)

    def ask(self, area: str, operation: str, **arguments: Any) -> Any:
        answer = self.answer(area, operation, **arguments)
        assert answer.status_code in (200, 201), answer.content
        return answer.parsed

    def decide(self, gate: int, verb: str, **more: Any) -> Any:
        """Answers a question as it is read."""
        read = self.ask("decisions", "read_gate", gate_id=gate)
        body = self.data("Answer", verb=self.data("Verb", value=verb), fingerprint=read.fingerprint, **more)
        return self.ask("decisions", "decide", gate_id=gate, body=body)


@pytest.fixture
def program(generated: str, site: Site) -> Iterator[Program]:
    token = site.write("token", "alice", "generated", *SCOPES)
    with import_module(generated).AuthenticatedClient(base_url=site.url, token=token, timeout=WAIT_SECONDS) as client:
        yield Program(generated, client)


def test_a_generated_client_carries_a_run_through(program: Program, site: Site) -> None:
    asked = site.write("runs", "alice", "question")[0]
    (question,) = program.ask("decisions", "list_gates").gates
    assert (question.run, question.kind, len(question.choices)) == (asked, "question", 2)
    assert program.decide(question.gate, "answer", reason=question.choices[0]).status == "answered"

    form = {
        "request": "Review both contracts.",
        "template": TEMPLATE,
        "paths": ["contracts/lease.md", "contracts/services.md"],
        "files": [program.file("lease.md", LEASE), program.file("services.md", SERVICES)],
    }
    run = program.ask("runs", "submit_run", body=program.data("SubmitRunMultiPartBodyParams", **form)).run
    kinds = []
    ends = time.monotonic() + WAIT_SECONDS
    while not (status := program.ask("runs", "read_status", run_id=run)).finished:
        assert time.monotonic() < ends, status
        for decision in status.decisions:
            kinds.append(decision.kind)
            assert program.decide(decision.gate, "approve").status == "approved"
        time.sleep(0.1)
    assert (status.state, kinds) == ("succeeded", ["plan", "step", "step", "step", "step"])

    steps = program.ask("plans", "list_steps", run_id=run).steps
    verdicts = [step.attempts[-1].verdict for step in steps]
    assert {verdict.passed for verdict in verdicts} == {True}
    proofs = [proof for verdict in verdicts for result in verdict.results for proof in result.evidence]
    assert {(proof.verified, bool(proof.sentence)) for proof in proofs} == {(True, True)}
    pdf = program.answer("reports", "download_report", run_id=run, suffix=program.data("Suffix", value="pdf"))
    assert pdf.content.startswith(b"%PDF-")
    everything = program.ask("reports", "download_everything", run_id=run)
    assert everything.payload.read().startswith(b"PK")

    first = program.ask("runs", "list_runs", limit=1)
    second = program.ask("runs", "list_runs", limit=1, cursor=first.next_)
    assert [line.run for line in (*first.runs, *second.runs)] == [run, asked]
    assert second.next_ is None
    gone = program.answer("runs", "read_run", run_id=run + 1)
    assert (gone.status_code, gone.parsed.status) == (404, 404)
