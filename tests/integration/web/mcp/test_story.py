"""A program and its person, at a running `serve`: one submits and reads, the other decides; and what it withstands."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client

from tests.browser.site import Site
from tests.installation import Installation
from tests.integration.web.mcp.asking import call, fields, refusal, talk, text
from tests.integration.web.site.visitor import Line, Visitor, memory, spooled

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
MB = 1_000_000
LEASE = "# Lease\n\nThe rent is 1,200 EUR a month, to Anna Smith, from 2026-01-01 on. Notice is thirty days.\n"
REVIEW: dict[str, Any] = {
    "request": "Review the lease.",
    "template": "document-review",
    "files": [{"path": "contracts/lease.md", "text": LEASE}],
}
JSON = "Content-Type: application/json"
GATE = re.compile(r'action="(/runs/\d+/gates/\d+/)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, installation: Installation) -> Iterator[Site]:
    found = Site(installation.copy(tmp_path_factory.mktemp("asked")), delay=0, PEV_MCP_SERVER="on")
    found.start()
    yield found
    found.close()


def browser_of(site: Site, name: str) -> Visitor:
    visitor = Visitor(site.port)
    (cookie,) = site.account(name)["cookies"]
    visitor.carry({"sessionid": cookie["value"]})
    return visitor


def approve(person: Visitor, run: int) -> str:
    """As the page offers it: the first form, with the fingerprint of what it shows. Returns the kind of the gate."""
    _, page = person.get(f"/runs/{run}/")
    form = page[page.index('<article class="gate') :]
    kind = re.search(r'data-kind="(\w+)"', form)
    place = GATE.search(form)
    digest = re.search(r'name="digest" value="([^"]+)"', form)
    secret = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
    assert kind
    assert place
    assert digest
    assert secret
    body = f"csrfmiddlewaretoken={secret[1]}&digest={digest[1]}&verb=approve".encode()
    status, answer = person.send("POST", place[1], body, **{"Content-Type": "application/x-www-form-urlencoded"})
    assert status == 302, answer
    return kind[1]


def test_a_run_from_its_submission_to_its_files(site: Site) -> None:
    """With the handshake that clients had before 2026; all others here begin without one."""
    token, person = site.write("token", "alice", "laptop"), browser_of(site, "alice")

    async def story(client: Client) -> None:
        run = fields(await client.call_tool("submit_run", REVIEW))["run"]
        decided: list[str] = []
        event = 0
        while True:
            state = fields(await client.call_tool("wait_for_run", {"run": run, "after": event}))
            if state["finished"]:
                break
            if state["decisions"]:
                forged = {"run": run, "verb": "approve", "digest": "x"}
                assert (await client.call_tool("run_status", forged)).is_error
                kind = approve(person, run)  # once more where the page was read before the run had gone on
                decided += [kind] if state["event"] > event else []
                event = state["event"]
        assert decided == ["plan", "step", "step", "step", "step"]
        assert (state["state"], state["steps_done"], state["steps"]) == ("succeeded", 4, 4)
        report = fields(await client.call_tool("read_report", {"run": run}))
        assert report["text"].startswith("# ")
        files = fields(await client.call_tool("list_files", {"run": run}))["files"]
        written = [one["path"] for one in files if one["change"] == "new"]
        assert "review/findings.md" in written
        findings = await client.call_tool("read_file", {"run": run, "path": "review/findings.md"})
        assert "No points were found by the rules in 1 document." in text(findings)
        assert "through a program (token “laptop”)" in person.get(f"/runs/{run}/history/")[1]

    talk(token, story, site=site.url, era="legacy")


def test_the_gates_page_takes_no_token(site: Site) -> None:
    token, person = site.write("token", "dora", "laptop"), browser_of(site, "dora")
    run = fields(call(token, "submit_run", site=site.url, **REVIEW))["run"]
    fields(call(token, "wait_for_run", site=site.url, run=run))
    place = GATE.search(person.get(f"/runs/{run}/")[1])
    assert place
    for cookie in ("", person.cookie):  # also together with a session: the token of the form is missing
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Cookie": cookie}
        status, _ = Visitor(site.port).send("POST", place[1], json.dumps({"verb": "approve"}).encode(), **headers)
        assert status in {302, 403}
    state = fields(call(token, "run_status", site=site.url, run=run))
    assert [one["kind"] for one in state["decisions"]] == ["plan"]


def test_who_may_not_see_a_run_hears_that_there_is_none(site: Site) -> None:
    alice, charlie = (site.write("token", name, "laptop") for name in ("alice-2", "charlie"))
    run = fields(call(alice, "submit_run", site=site.url, **REVIEW))["run"]
    assert refusal(call(charlie, "run_status", site=site.url, run=run)).startswith(f"There is no run {run} ")


def test_a_long_message_is_taken_with_a_token_alone(site: Site) -> None:
    token = site.write("token", "erin", "laptop")
    data = bytes(range(256)) * 10_000
    given = {"path": "table.bin", "base64": base64.b64encode(data).decode()}
    said = refusal(call(token, "submit_run", site=site.url, **REVIEW | {"files": [*REVIEW["files"], given]}))
    assert "“table.bin” is neither a text nor a document" in said, "so it has arrived"
    session = f"Cookie: {browser_of(site, 'erin').cookie}"
    for headers in ([], ["Authorization: Bearer pev_" + "x" * 43], [session]):
        line = Line(site.port).ask("POST /mcp", JSON, "Content-Length: 3000000", *headers)
        line.flood(3, b" " * MB)
        answer = line.answer()
        assert answer.startswith("HTTP/1.1 401 ")
        assert "access token" in answer


def test_a_larger_one_is_refused_unread_whoever_sends_it(site: Site) -> None:
    token = site.write("token", "frank", "laptop")
    bearer = f"Authorization: Bearer {token}"
    line = Line(site.port).ask("POST /mcp", JSON, bearer, "Content-Length: 4000001", "Expect: 100-continue")
    answer = line.answer()
    assert answer.startswith("HTTP/1.1 413 ")
    assert "100 Continue" not in answer
    before = memory(site.pid)
    chunked = Line(site.port).ask("POST /mcp", JSON, bearer, "Transfer-Encoding: chunked")
    chunked.flood(60, b"F4240\r\n" + b" " * MB + b"\r\n")
    assert spooled(site.pid) <= 5 * MB
    assert chunked.answer().startswith("HTTP/1.1 413 ")
    assert memory(site.pid) - before < 40 * MB


@pytest.mark.exhaustive
def test_many_that_wait_keep_nobody_out(site: Site) -> None:
    """Forty calls that would wait for 2 seconds: eight do, the others are answered at once, and so are pages."""
    token, person = site.write("token", "grace", "laptop"), browser_of(site, "grace")
    run = fields(call(token, "submit_run", site=site.url, **REVIEW))["run"]
    event = fields(call(token, "wait_for_run", site=site.url, run=run))["event"]
    asked = {"name": "wait_for_run", "arguments": {"run": run, "after": event, "seconds": 2}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked})
    headers = [JSON, "Accept: application/json", f"Authorization: Bearer {token}", f"Content-Length: {len(body)}"]
    lines = [Line(site.port).ask("POST /mcp", *headers, "Connection: close") for _ in range(40)]
    for line in lines:
        line.socket.sendall(body.encode())
    assert person.get("/")[0] == 200
    answers = [line.answer() for line in lines]
    assert {answer.split(" ", 2)[1] for answer in answers} == {"200"}
    assert all('"state":"waiting"' in answer for answer in answers)
