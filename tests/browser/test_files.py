"""The files of a run in a real browser: the tab, what changed since the start, and a file from version to version."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_both_themes
from tests.browser.site import Site


@pytest.fixture(scope="module")
def files(site: Site, me: str) -> str:
    """The tab of a finished run."""
    number = site.write("sample", me)
    return f"{site.url}/runs/{number}/files/"


@pytest.fixture
def page(blank: Page) -> Page:
    """Each test opens the page that it is about."""
    return blank


def check(page: Page) -> None:
    """The rules of axe in both themes, and nothing that scrolls sideways."""
    check_both_themes(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_from_the_tab_to_what_differs_between_two_versions(page: Page, files: str) -> None:
    page.goto(files)
    page.get_by_role("link", name="review/findings.md").click()
    panel = page.locator("dialog.source-panel")
    expect(panel.locator(".source-title")).to_have_text("review/findings.md")
    panel.get_by_role("link", name="Open the whole file").click()
    expect(page.locator(".prose")).to_be_visible()
    page.get_by_text("Versions").click()
    page.get_by_role("link", name="compare").first.click()
    expect(page.locator(".line-diff tr.added").first).to_be_visible()
    check(page)


@pytest.mark.exhaustive
def test_changes_since_the_start_on_a_phone(page: Page, files: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(files)
    page.get_by_label("Changes since").select_option("0")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="Changes since the start")).to_be_visible()
    page.locator(".file-diff summary").first.click()
    expect(page.locator(".line-diff").first).to_be_visible()
    check(page)
