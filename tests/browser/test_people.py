"""People in a real browser: an invitation is used by its button, and who is deactivated or taken off a run is out."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessible import check_accessible, check_fits
from tests.browser.conftest import on_a_sample
from tests.browser.site import Site, sign_in
from tests.browser.test_story import gate

ADMINISTRATOR = True


def invited(page: Page, site: Site, name: str, *roles: str) -> str:
    """The link that the page of people shows for someone new, with these roles or those that are suggested."""
    page.goto(f"{site.url}/people/")
    if roles:
        for box in page.locator("fieldset.choices input").all():
            box.set_checked(box.get_attribute("value") in roles)
    page.get_by_label("User name").fill(name)
    page.get_by_role("button", name="Make an invitation").click()
    expect(page.get_by_role("heading", name=f"A link for {name}")).to_be_visible()
    return page.locator("pre.code").inner_text()


@pytest.mark.exhaustive
def test_an_invitation_takes_a_button_and_asks_who_is_someone_else(
    page: Page, site: Site, me: str, browser: Browser
) -> None:
    link = invited(page, site, "carol")
    check_accessible(page)
    check_fits(page)
    page.goto(link)
    expect(page.get_by_text(f"You are signed in as {me}.")).to_be_visible()
    check_accessible(page)
    check_fits(page)
    page.get_by_role("link", name=f"Stay {me}").click()
    expect(page.locator(".site-user")).to_contain_text(me)
    other = browser.new_context().new_page()
    sign_in(other, link)
    expect(other.locator(".site-user")).to_contain_text("carol")
    assert "/sign-in/" not in other.url
    other.goto(link)
    expect(other.get_by_role("heading", name="Inbox")).to_be_visible()
    other.context.close()


@pytest.mark.provokes("404", "WebSocket")
@pytest.mark.exhaustive
def test_who_is_taken_off_a_run_or_deactivated_is_out_at_once(
    page: Page, site: Site, me: str, browser: Browser
) -> None:
    link = invited(page, site, "dan")
    on_a_sample(page, site, me, "plan")
    run = page.url.partition("#")[0]
    page.get_by_text("Request and people").click()
    page.get_by_role("link", name="Who may decide").click()
    page.get_by_label("Share it with").select_option(label="dan")
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_text("dan may look at this run and decide in it.")).to_be_visible()
    other = browser.new_context().new_page()
    sign_in(other, link)
    other.goto(run)
    expect(gate(other, "plan")).to_be_visible()
    expect(other.locator("#live")).to_have_attribute("data-state", "live")
    page.get_by_role("button", name="Remove dan").click()
    expect(page.get_by_text("The run is no longer shared with dan.")).to_be_visible()
    expect(other.get_by_role("heading", name="Page not found")).to_be_visible()
    page.goto(f"{run}history/")
    expect(page.locator("#history-lines")).to_contain_text("You stopped sharing this run with dan")
    page.goto(f"{site.url}/people/")
    other.goto(site.url)
    expect(other.get_by_role("heading", name="Inbox")).to_be_visible()
    page.get_by_label("More for dan").click()
    page.get_by_role("button", name="Deactivate dan").click()
    expect(page.get_by_text(re.compile("^dan is no longer active"))).to_be_visible()
    check_accessible(page)
    other.goto(site.url)
    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    other.context.close()


@pytest.mark.exhaustive
def test_an_administrator_looks_at_work_and_calls(planned: Page, site: Site) -> None:
    page = planned
    page.locator(".site-user summary").click()
    page.get_by_role("link", name="Administration").click()
    for rows, name in (("workitem", "work item"), ("modelcall", "model call"), ("event", "event")):
        page.goto(f"{site.url}/admin/runs/{rows}/")
        page.locator("#result_list tbody a").first.click()
        expect(page.get_by_role("heading", name=f"View {name}")).to_be_visible()
