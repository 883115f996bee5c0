"""Access tokens in a real browser: made, shown once, revoked; with JavaScript and without."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_both_themes, check_fits
from tests.browser.site import Site


def story(page: Page, site: Site, name: str) -> None:
    page.goto(f"{site.url}/access-tokens/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Valid for").select_option(label="90 days")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_label("The token")).to_have_text(re.compile(r"^pev_[A-Za-z0-9_-]{43}$"))
    page.goto(f"{site.url}/access-tokens/")
    expect(page.get_by_text("not used yet")).to_be_visible()
    expect(page.get_by_label("The token")).to_have_count(0)
    page.get_by_role("button", name=f"Revoke {name}").click()
    expect(page.get_by_text(f"The access token “{name}” is revoked. No program can use it any longer.")).to_be_visible()


@pytest.mark.exhaustive
def test_the_way_to_the_page_and_a_token_from_its_making_to_its_end(page: Page, site: Site) -> None:
    page.locator(".site-user summary").click()
    page.get_by_role("link", name="Account").click()
    page.get_by_role("link", name="Access tokens").click()
    page.get_by_label("Name", exact=True).fill("desk")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_role("heading", name="Your new token")).to_be_visible()
    check_both_themes(page)
    check_fits(page)
    page.get_by_role("button", name="Revoke desk").click()
    expect(page.get_by_role("heading", name="Ended")).to_be_visible()
    check_both_themes(page)
    check_fits(page)
    story(page, site, "laptop")


def test_so_it_is_without_javascript(plain: Page, site: Site) -> None:
    story(plain, site, "phone")
