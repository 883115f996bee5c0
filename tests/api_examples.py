"""Records the examples of the OpenAPI document: the story of a run that is carried out over the REST API.

`python -m tests.api_examples` writes them, from a server with the offline rules; no key and no network is needed. One
request of each operation is its example, with the answer that it got, and so is one notice of each kind that came to a
webhook. Lists of objects are shortened to their first one, long texts to their beginning.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from runs.enums import NoticeKind, TokenScope
from tests.browser.site import served
from tests.fakes.webhook_receiver import Receiver
from tests.installation import ROOT, Installation

FILE = ROOT / "runs/web/api/examples.json"
SITE = "https://pevsite.example"
TEMPLATE = "document-review"
LAST_NUMBERS = ((40, "runs_run"), (86, "runs_gate"))
"""The numbers before the first ones of the story, with their tables: other runs of the installation came before it."""
MAX_TEXT = 200
"""Characters of a text in an example."""
MAX_WORDS = 5
"""Texts and numbers of a list in an example."""
WAIT_SECONDS = 120
LEASE = """# Lease

1. The rent is 1,200 EUR a month. Anna Smith pays it to Bob Miller from 2026-01-01 on.
2. Repairs are made within a reasonable time.
3. Notice is given thirty days before the end of a month.
"""
SERVICES = """# Services agreement

1. Miller Ltd cleans the offices of Smith Ltd each week for 300 EUR.
2. Either party may end the agreement with [TBD] days of notice.
"""
ANNEX = "# Annex B\n\nThe keys are handed over on 2026-01-01.\n"


class Recorder:
    """Uses the API as a program does, and keeps what it records as `examples`, by operation.

    `write` calls a function of tests/browser/writes.py, and `receiver` gets the notices of alice and bob.
    """

    def __init__(self, client: httpx2.Client, receiver: Receiver, write: Callable[..., Any]) -> None:
        self._client, self._receiver, self.write = client, receiver, write
        self._operations = {
            operation["operationId"]: (method, path, operation.get("parameters", []))
            for path, methods in client.get("/api/openapi.json").json()["paths"].items()
            for method, operation in methods.items()
        }
        self.examples: dict[str, dict[str, Any]] = {}

    def record(self, operation: str, body: Mapping[str, Any] | None = None, **values: Any) -> Any:
        """The answer, which becomes the example of this operation together with what was sent."""
        answer = self._send(operation, body, values)
        example: dict[str, Any] = {"parameters": values, "status": str(answer.status_code)}
        if body is not None:
            example["body"] = {**body, "files": [text for _, text in body["files"]]} if "files" in body else body
        if answer.content:
            media_type = answer.headers["Content-Type"].partition(";")[0]
            example |= {"media_type": media_type, "answer": _content(answer)}
        self._keep(operation, example)
        return _content(answer)

    def record_notice(self, kind: NoticeKind) -> None:
        """Waits for the first notice of this kind, which becomes its example."""
        ends = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < ends:
            for headers, sent in self._receiver.received:
                body = json.loads(sent)
                if body["type"] == f"notice.{kind}":
                    own = {name: value for name, value in headers.items() if name.startswith("webhook-")}
                    self._keep(f"notice_{kind}", {"parameters": own, "body": body})
                    return
            time.sleep(0.1)
        raise AssertionError(f"no notice {kind} within {WAIT_SECONDS} seconds")

    def _keep(self, operation: str, example: Mapping[str, Any]) -> None:
        text = json.dumps(_shortened(example)).replace(str(self._client.base_url).rstrip("/"), SITE)
        assert operation not in self.examples, operation
        self.examples[operation] = json.loads(text)

    def ask(self, operation: str, body: Mapping[str, Any] | None = None, **values: Any) -> Any:
        """The answer, which is no example."""
        return _content(self._send(operation, body, values))

    def _send(self, operation: str, body: Mapping[str, Any] | None, values: Mapping[str, Any]) -> httpx2.Response:
        """`values` are those of the parameters. `files` of a form are paths with texts."""
        method, path, parameters = self._operations[operation]
        places = {one["name"]: one["in"] for one in parameters}
        named = {
            place: {key: value for key, value in values.items() if places[key] == place}
            for place in ("path", "query", "header")
        }
        for key, value in named["path"].items():
            path = path.replace(f"{{{key}}}", quote(str(value)))
        sent: dict[str, Any] = {"json": body} if body is not None else {}
        if body is not None and "files" in body:
            sent = {
                "data": {key: value for key, value in body.items() if key != "files"},
                "files": [("files", (name, text.encode())) for name, text in body["files"]],
            }
        answer = self._client.request(method, path, params=named["query"], headers=named["header"], **sent)
        assert answer.is_success, f"{operation}: {answer.text}"
        return answer

    def next_gate(self, run: int) -> int | None:
        """The open decision about a run that comes next; None when the run is finished."""
        ends = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < ends:
            status = self.ask("read_status", run_id=run)
            if status["finished"] or status["decisions"]:
                return status["decisions"][0]["gate"] if status["decisions"] else None
            time.sleep(0.1)
        raise AssertionError(f"run {run} neither asked nor finished within {WAIT_SECONDS} seconds")


def _content(answer: httpx2.Response) -> Any:
    """What was answered: as JSON, as text, or of other bytes those at the beginning that are text."""
    if answer.headers.get("Content-Type", "").partition(";")[0] == "application/json":
        return answer.json()
    try:
        return answer.content.decode()
    except UnicodeDecodeError as error:
        return answer.content[: error.start].decode()


def _shortened(value: Any) -> Any:
    match value:
        case dict():
            return {key: _shortened(one) for key, one in value.items()}
        case [dict(), *_]:
            return [_shortened(value[0])]
        case list():
            return [_shortened(one) for one in value[:MAX_WORDS]]
        case str() if len(value) > MAX_TEXT:
            return f"{value[:MAX_TEXT]}…"
        case _:
            return value


def tell(recorder: Recorder) -> None:
    """The story: two contracts are reviewed by an edited plan, and everything that came of it is read."""
    record, ask, notice = recorder.record, recorder.ask, recorder.record_notice
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    today = midnight.date().isoformat()
    recorder.write("notice_to_test", "alice")
    notice(NoticeKind.TEST)
    record("read_health")
    record("list_agents")
    record("list_templates")
    record("read_template", key=TEMPLATE)
    task = {
        "request": "Review both contracts: find vague terms, missing dates and placeholders.",
        "template": TEMPLATE,
        "preset": "careful",
        "approvers": ["bob"],
        "no_files": False,
        "budget_usd": "5.00",
        "time_limit_minutes": 60,
    }
    record("check_task", {**task, "has_files": True})
    upload = record("upload_files", {"paths": ["contracts/lease.md"], "files": [("lease.md", LEASE)]})["upload"]
    run = record(
        "submit_run",
        {**task, "paths": ["contracts/services.md"], "upload": upload, "files": [("services.md", SERVICES)]},
    )["run"]
    unwanted = ask("upload_files", {"files": [("lease.md", LEASE)]})["upload"]
    record("discard_upload", upload=unwanted)

    gate = recorder.next_gate(run)
    notice(NoticeKind.DECISION_NEEDED)
    plan = record("read_plan_document", run_id=run, version=1)
    goal = {**plan, "goal": "Find what has to be settled before both contracts are signed."}
    record("edit_plan", {"fingerprint": ask("read_gate", gate_id=gate)["fingerprint"], "plan": goal}, run_id=run)
    gate = recorder.next_gate(run)
    record("read_status", run_id=run)
    record("list_gates")
    record("pause_run", run_id=run)
    record("resume_run", run_id=run)
    answer = {
        "verb": "approve",
        "fingerprint": record("read_gate", gate_id=gate)["fingerprint"],
        "reason": "The goal is the right one now.",
        "budget_usd": "4.00",
        "time_limit_minutes": 45,
    }
    record("decide", answer, gate_id=gate)
    gate = recorder.next_gate(run)
    seen = ask("read_gate", gate_id=gate)["assigned_to"]
    record("hand_on_gate", {"to": "bob", "seen": seen}, gate_id=gate)
    notice(NoticeKind.ASSIGNED)
    while gate := recorder.next_gate(run):
        ask("decide", {"verb": "approve", "fingerprint": ask("read_gate", gate_id=gate)["fingerprint"]}, gate_id=gate)

    notice(NoticeKind.RUN_ENDED)
    record("read_run", run_id=run)
    record("list_plans", run_id=run)
    record("read_plan", run_id=run, version=2)
    record("list_steps", run_id=run)
    step = "findings"
    record("read_step", run_id=run, step_id=step)
    record("read_attempt", run_id=run, step_id=step, number=1)
    record("list_events", run_id=run, since=2, limit=10)
    made = record("list_files", run_id=run, offset=0)["files"][0]
    record("download_file", run_id=run, path=made["path"], sha256=made["sha256"])
    record("read_file_text", run_id=run, path=made["path"], sha256=made["sha256"], offset=0, limit=MAX_TEXT)
    record("download_report", run_id=run, suffix="md", part="report")
    record("download_everything", run_id=run)
    record("read_figures", days="30", person="alice")
    cursor = ask("read_audit_trail_of_run", run_id=run, limit=10)["next"]
    record("read_audit_trail_of_run", run_id=run, cursor=cursor, limit=10)
    filters = {"kind": "gate_decided", "by": "alice", "run": run, "since": today, "until": today}
    cursor = ask("read_audit_trail", **filters, limit=1)["next"]
    record("read_audit_trail", **filters, cursor=cursor, limit=1)

    again = record("run_again", {"reuse": True, "redo": [step]}, run_id=run)["run"]
    gate = recorder.next_gate(again)
    plan = ask("read_plan_document", run_id=again, version=1)
    plan["steps"][0]["inputs"] = [*plan["steps"][0]["inputs"], "contracts/annex-b.md"]
    fingerprint = ask("read_gate", gate_id=gate)["fingerprint"]
    ask("edit_plan", {"fingerprint": fingerprint, "plan": plan}, run_id=again)
    gate = recorder.next_gate(again)
    recorder.write("remind", gate)
    notice(NoticeKind.DECISION_DUE)
    annex = {
        "fingerprint": ask("read_gate", gate_id=gate)["fingerprint"],
        "paths": ["annex-b.md"],
        "name_as": "contracts/annex-b.md",
        "files": [("annex-b.md", ANNEX)],
    }
    record("give_files", annex, gate_id=gate)
    cursor = ask("list_runs", limit=1)["next"]
    words = {"show": "finished", "q": "contracts", "state": "succeeded", "person": "alice", "template": TEMPLATE}
    days = {"since": midnight.isoformat(), "until": (midnight + timedelta(days=1)).isoformat()}
    record("list_runs", None, **words, **days, archived=False, cursor=cursor, limit=1)
    record("stop_run", {"reason": "The annex changes everything."}, run_id=again)
    record("archive_run", run_id=again)
    record("delete_run", run_id=again)


def examples(data: Path) -> dict[str, dict[str, Any]]:
    """The examples of all operations, from a server on this data folder."""
    settings = {"PEV_API_DECIDES": "on", "PEV_NOTICE_CONTENT": "details", "ANTHROPIC_API_KEY": ""}
    hooks = {"PEV_WEBHOOKS": "*", "PEV_PRIVATE_HOSTS": "127.0.0.1"}
    with closing(Receiver()) as receiver, served(data, delay=0, **settings, **hooks) as site:
        site.write("account", "alice", True)
        site.write("account", "bob", False)
        for person in ("alice", "bob"):
            site.write("webhook", person, receiver.address)
        site.write("agent", "legal-notices-writer")
        token = {"Authorization": f"Bearer {site.write('token', 'alice', 'reviews', *TokenScope)}"}
        with httpx2.Client(base_url=site.url, headers=token, timeout=WAIT_SECONDS) as client:
            recorder = Recorder(client, receiver, site.write)
            tell(recorder)
    return recorder.examples


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Installation(Path(folder)).copy(Path(folder) / "data")
        with closing(sqlite3.connect(data / "pevsite.sqlite3")) as database, database:
            database.executemany("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", LAST_NUMBERS)
        FILE.write_text(json.dumps(examples(data), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
