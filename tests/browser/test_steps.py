"""The rows of steps in a real browser: folds that fetch what they hold, by keyboard, and the three views of steps."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_accessible
from tests.browser.conftest import on_a_sample
from tests.browser.site import Site
from tests.browser.test_story import tab


@pytest.mark.exhaustive
def test_rows_unfold_and_views_change(blank: Page, site: Site, me: str) -> None:
    page = on_a_sample(blank, site, me, "step")
    for view in ("Timeline", "Table", "Graph"):
        page.get_by_role("navigation", name="Steps as").get_by_role("link", name=view).click()
        expect(page.get_by_role("navigation", name="Steps as").locator("[aria-current]")).to_have_text(view)
    tab(page, "Steps")
    row = page.locator("details.row[data-status=passed]").first
    expect(row.locator("[data-unread]")).to_have_count(1)
    row.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(row).to_contain_text("Findings, evidence and tool calls")
    expect(row.locator("[data-unread]")).to_have_count(0)
    check_accessible(page)
    row.get_by_role("link", name="Findings, evidence and tool calls").click()
    expect(page.get_by_role("heading", level=3, name="Attempt 1")).to_be_visible()
