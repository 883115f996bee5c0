"""MCP servers in a real browser: one is listed again by a worker, and the page says how far that is."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessible import check_both_themes, check_fits
from tests.browser.conftest import heard, new_context
from tests.browser.screenshots import pictures
from tests.browser.site import Site, by_link, served
from tests.installation import Installation
from tests.integration.engine.test_mcp_calls import TICKETS


@pytest.fixture
def site(tmp_path: Path, installation: Installation) -> Iterator[Site]:
    file = tmp_path / "mcp.json"
    tickets = {"command": sys.executable, "args": [TICKETS], "effects": {"search": "reads"}}
    gone = {"command": "/nowhere/at/all", "effects": {"*": "reads"}}
    file.write_text(json.dumps({"mcpServers": {"tickets": tickets, "gone": gone}}))
    with served(installation.copy(tmp_path / "site"), PEV_MCP=str(file)) as site:
        yield site


@pytest.fixture
def page(browser: Browser, site: Site, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = new_context(browser, by_link(browser, site))
    with heard(context, site, request.node) as page:
        yield page
    context.close()


@pytest.mark.exhaustive
def test_a_server_is_listed_again_without_a_reload(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/status/")
    page.get_by_role("link", name="MCP servers").click()
    pictures(page, "servers-never")
    page.get_by_role("button", name="List again tickets").click()
    expect(page.locator("#server-tickets-news")).to_contain_text(": 2 tools.")
    page.get_by_role("button", name="List again gone").click()
    expect(page.locator("#server-gone .badge")).to_have_text("does not answer")
    expect(page.locator("#servers")).not_to_have_attribute("hx-trigger", "every 2s")
    expect(page.get_by_role("button", name="List again gone")).to_be_enabled()
    page.locator("#server-tickets details").first.click()
    check_both_themes(page)
    check_fits(page)
    pictures(page, "servers-listed")
