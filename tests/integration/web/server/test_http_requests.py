"""Log lines have the address that a trusted proxy reports, and what a client claims only as the client's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import databases
from tests.browser.site import Site
from tests.installation import Installation
from tests.integration.web.site.visitor import Visitor

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("tls", "address"), [("on", "192.0.2.7"), ("off", "127.0.0.1")])
@pytest.mark.exhaustive
def test_refused_links_are_logged_with_the_address_that_can_be_trusted(
    tmp_path: Path, installation: Installation, tls: str, address: str
) -> None:
    """In the log, and in the audit trail as well: pages and programs."""
    data = installation.copy(tmp_path / "data")
    site = Site(data, delay=0, PEV_TLS=tls, PEV_MCP_SERVER="on")
    try:
        site.start()
        claimed = {"X-Forwarded-For": "198.51.100.6, 192.0.2.7", "X-Forwarded-Proto": "https"}
        assert Visitor(site.port).send("GET", "/sign-in/a-token-of-nobody/", None, **claimed)[0] == 302
        origin = f"http{'s' if tls == 'on' else ''}://127.0.0.1:{site.port}"
        wrong = {"Authorization": f"Bearer pev_{'x' * 43}", "Origin": origin}
        assert Visitor(site.port).send("POST", "/mcp", b"", **claimed, **wrong)[0] == 401
        (line,) = [line for line in site.log.read_text().splitlines() if "a sign-in link that does not work" in line]
    finally:
        site.kill()
    assert line.partition("refused: ")[2] == (f"a sign-in link that does not work, or not any more address={address}")
    sql = "SELECT channel, address FROM runs_auditentry WHERE kind = 'sign_in_refused' ORDER BY number"
    assert databases.rows(data, sql) == [("page", address), ("program", address)]
