"""Log lines have the address that a trusted proxy reports, and what a client claims only as the client's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.site import Site
from tests.installation import Installation
from tests.integration.web.site.visitor import Visitor

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("tls", "address"), [("on", "192.0.2.7"), ("off", "127.0.0.1")])
@pytest.mark.exhaustive
def test_refused_links_are_logged_with_the_address_that_can_be_trusted(
    tmp_path: Path, installation: Installation, tls: str, address: str
) -> None:
    site = Site(installation.copy(tmp_path / "data"), delay=0, PEV_TLS=tls)
    try:
        site.start()
        claimed = {"X-Forwarded-For": "198.51.100.6, 192.0.2.7", "X-Forwarded-Proto": "https"}
        assert Visitor(site.port).send("GET", "/sign-in/a-token-of-nobody/", None, **claimed)[0] == 302
        (line,) = [line for line in site.log.read_text().splitlines() if "a sign-in link that does not work" in line]
    finally:
        site.kill()
    assert line.partition("refused: ")[2] == (f"a sign-in link that does not work, or not any more address={address}")
