"""Signing in through an OpenID Connect provider in a real browser, with JavaScript and without it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessible import check_both_themes, check_fits
from tests.browser.conftest import new_context
from tests.browser.site import Site, served, sign_in
from tests.fakes.identity_provider import CLIENT, SECRET, FakeIdentityProvider, providing
from tests.installation import Installation


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeIdentityProvider]:
    with providing() as fake:
        fake.know("s-1", preferred_username="dora", groups=["staff"])
        fake.know("s-2", preferred_username="emil", groups=["staff"])
        fake.know("s-3", preferred_username="frida", groups=["others"])
        yield fake


@pytest.fixture(scope="module")
def connected_site(
    provider: FakeIdentityProvider, tmp_path_factory: pytest.TempPathFactory, installation: Installation
) -> Iterator[Site]:
    data = installation.copy(tmp_path_factory.mktemp("connected"))
    with served(
        data,
        PEV_OIDC_URL=provider.url,
        PEV_OIDC_CLIENT_ID=CLIENT,
        PEV_OIDC_CLIENT_SECRET=SECRET,
        PEV_OIDC_NAME="Example",
        PEV_OIDC_GROUPS="staff=submitter, staff=approver",
    ) as site:
        yield site


def at_the_provider(page: Page, subject: str) -> None:
    page.get_by_role("textbox").fill(subject)
    page.get_by_role("button", name="Authorize", exact=True).click()


def test_the_button_leads_to_the_provider_and_back_and_the_account_shows_the_connection(
    connected_site: Site, browser: Browser
) -> None:
    page = new_context(browser).new_page()
    page.goto(f"{connected_site.url}/sign-in/?next=/runs/new/")
    check_both_themes(page)
    check_fits(page)
    page.get_by_role("button", name="Sign in with Example").click()
    at_the_provider(page, "s-1")
    expect(page).to_have_url(f"{connected_site.url}/runs/new/")
    page.goto(f"{connected_site.url}/account/methods/")
    expect(page.get_by_text("You can sign in with Example.")).to_be_visible()
    check_both_themes(page)
    check_fits(page)
    page.get_by_role("button", name="Remove the connection").click()
    expect(page.get_by_text("Add a passkey or set a password first")).to_be_visible()
    page.goto(f"{connected_site.url}/sign-in/again/?next=/account/methods/totp/activate/")
    check_both_themes(page)
    check_fits(page)
    page.get_by_role("button", name="Sign in again with Example").click()
    at_the_provider(page, "s-1")
    expect(page).to_have_url(f"{connected_site.url}/account/methods/totp/activate/")
    page.context.close()


def test_without_javascript_a_page_leads_there(connected_site: Site, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{connected_site.url}/sign-in/")
    page.get_by_role("button", name="Sign in with Example").click()
    at_the_provider(page, "s-1")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    context.close()


def test_who_does_not_get_in_reads_why_and_can_begin_again(connected_site: Site, browser: Browser) -> None:
    page = new_context(browser).new_page()
    page.goto(f"{connected_site.url}/sign-in/")
    page.get_by_role("button", name="Sign in with Example").click()
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_role("heading", name="You have not signed in")).to_be_visible()
    check_both_themes(page)
    check_fits(page)
    page.get_by_role("link", name="Back to signing in").click()
    page.get_by_role("button", name="Sign in with Example").click()
    at_the_provider(page, "s-3")
    expect(page.get_by_role("heading", name="You have no access yet")).to_be_visible()
    check_both_themes(page)
    check_fits(page)
    page.context.close()


def test_an_account_that_was_here_before_is_connected_by_its_person(connected_site: Site, browser: Browser) -> None:
    page = new_context(browser).new_page()
    sign_in(page, connected_site.invite("gerd"))
    page.goto(f"{connected_site.url}/account/methods/")
    page.get_by_role("button", name="Connect").click()
    at_the_provider(page, "s-2")
    expect(page.get_by_text("Your account is connected: you can sign in with Example from now on.")).to_be_visible()
    page.locator(".site-user summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in with Example").click()
    at_the_provider(page, "s-2")
    expect(page.locator(".site-user summary")).to_have_text(re.compile("gerd"))
    page.context.close()
