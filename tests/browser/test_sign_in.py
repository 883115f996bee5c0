"""Signing in in a real browser: a passkey from its making to its use, and codes of an app."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessible import check_both_themes, check_fits
from tests.browser.conftest import new_context
from tests.browser.site import Site, sign_in
from tests.integration.web.test_sign_in_methods import code


@pytest.fixture
def named(site: Site) -> str:
    """The address by name: passkeys do not work at an address of numbers."""
    return site.url.replace("127.0.0.1", "localhost")


def with_authenticator(browser: Browser) -> Page:
    page = new_context(browser).new_page()
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "automaticPresenceSimulation": True,
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
    }
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return page


def test_a_passkey_is_added_and_signs_in_without_anything_else(site: Site, named: str, browser: Browser) -> None:
    page = with_authenticator(browser)
    sign_in(page, site.invite("pia").replace("127.0.0.1", "localhost"))
    page.locator(".site-user summary").click()
    page.get_by_role("link", name="Account").click()
    page.get_by_role("link", name="Add a passkey").click()
    expect(page.get_by_label("Name")).to_have_value(re.compile("Chrome.* on Linux"))
    check_both_themes(page)
    check_fits(page)
    page.get_by_role("button", name="Add the passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.goto(f"{named}/account/methods/")
    expect(page.get_by_text("not used yet")).to_be_visible()
    check_both_themes(page)
    check_fits(page)
    page.locator(".site-user summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    check_both_themes(page)
    check_fits(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    page.context.close()


def test_a_passkey_at_an_address_of_numbers_is_explained(site: Site, browser: Browser) -> None:
    page = with_authenticator(browser)
    page.goto(f"{site.url}/sign-in/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("Passkeys do not work at an address of numbers.")
    page.context.close()


def test_a_password_and_an_app_sign_in_and_wrong_ones_are_said_at_the_form(site: Site, browser: Browser) -> None:
    page = new_context(browser).new_page()
    sign_in(page, site.invite("quinn"))
    password = "correct horse battery staple"
    page.goto(f"{site.url}/account/password/new/")
    for field in page.get_by_label(re.compile("Password")).all():
        field.fill(password)
    page.get_by_role("button", name="Set the password").click()
    expect(page.get_by_text("Password successfully set.")).to_be_visible()
    page.goto(f"{site.url}/account/methods/totp/activate/")
    secret = page.get_by_label("Secret").input_value()
    check_both_themes(page)
    check_fits(page)
    page.get_by_label("Authenticator code").fill(code(secret))
    page.get_by_role("button", name="Use this app").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.locator(".site-user summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_text("With a password").click()
    page.get_by_label("User name").fill("quinn")
    page.get_by_label("Password").fill("wrong horse")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("The username and/or password you specified are not correct.")).to_be_visible()
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Enter a code")).to_be_visible()
    check_both_themes(page)
    check_fits(page)
    page.context.close()
