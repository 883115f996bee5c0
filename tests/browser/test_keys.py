"""Decisions by keyboard: keys lead to buttons and fields, `?` says which there are, and nothing decides by itself."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.accessible import check_both_themes
from tests.browser.site import Site
from tests.browser.test_story import gate


def test_keys_lead_to_the_buttons_of_a_decision_and_decide_nothing(blank: Page, site: Site, me: str) -> None:
    page = blank
    first, second = site.write("runs", me, "plan of 4", "result of 4")
    page.goto(f"{site.url}/runs/{first}/")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.keyboard.press("a")
    expect(gate(page, "plan").locator("button[value=approve]")).to_be_focused()
    page.keyboard.press("r")
    expect(gate(page, "plan").locator("textarea")).to_be_focused()
    page.keyboard.type("a n ?")
    expect(gate(page, "plan").locator("textarea")).to_have_value("a n ?")
    page.locator("h1").click()
    page.keyboard.press("j")
    expect(gate(page, "plan").locator("h2")).to_be_focused()
    assert sent == []
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(rf"/runs/{second}/#gate-[0-9]+-title$"))
    expect(gate(page, "step").locator("h2")).to_be_focused()
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator("#next-decision")).to_contain_text("1 more in other runs")


def test_a_question_mark_lists_the_keys_of_the_page(blank: Page, site: Site, me: str) -> None:
    page = blank
    site.write("runs", me, "plan of 4")  # an empty inbox has nothing to search
    page.goto(site.url)
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys on this page")
    expect(keys).to_be_visible()
    expect(keys.locator("dt")).to_have_text(["?", "j", "k", "Enter", "/"])
    check_both_themes(page)
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    page.get_by_role("button", name="Keys").click()
    expect(keys).to_be_visible()


def test_the_decision_about_a_plan_is_reached_with_few_tabs(blank: Page, site: Site, me: str) -> None:
    page = blank
    page.goto(f"{site.url}/runs/{site.write('runs', me, 'plan of 40')[0]}/")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the decision")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(gate(page, "plan").locator("button[value=approve]")).to_be_focused()
