"""The panel beside a text: by mouse, by keyboard, on a phone, without a connection and without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_accessible, check_both_themes
from tests.browser.site import Site

PLACES = "main a[data-source][href$='#hit']"
"""References to a place; those before them name a file as a whole, which has no passage to mark."""


@pytest.fixture(scope="module")
def report(site: Site, me: str) -> str:
    """The report of a finished run."""
    number = site.write("sample", me)
    return f"{site.url}/runs/{number}/report/"


@pytest.fixture
def reading(blank: Page, report: str) -> Page:
    blank.goto(report)
    return blank


def panel_of(page: Page):  # type: ignore[no-untyped-def]
    return page.locator("dialog.source-panel")


@pytest.mark.exhaustive
def test_a_click_on_a_quote_shows_its_place_beside_the_text(reading: Page) -> None:
    panel, link = panel_of(reading), reading.locator(PLACES).nth(1)
    address = reading.url
    before = link.evaluate("link => [...document.querySelectorAll('main a[data-source]')].indexOf(link)")
    link.click()
    expect(panel.locator(".source-title")).to_be_focused()
    expect(panel.locator("mark").first).to_be_in_viewport()
    expect(panel.locator(".source-count")).to_have_text(re.compile(rf"^{before + 1} of \d+$"))
    text, column = reading.locator("main").bounding_box(), panel.bounding_box()
    assert text
    assert column
    assert text["x"] + text["width"] <= column["x"] + 1, "the panel lies beside the text, not over it"
    check_both_themes(reading)
    assert reading.url == address
    panel.get_by_role("link", name="Open the whole file").click()
    expect(reading.locator("mark#hit")).to_be_in_viewport()
    reading.go_back()
    expect(panel).to_have_count(0)


def test_by_keyboard_from_reference_to_reference_and_back(reading: Page) -> None:
    panel, links = panel_of(reading), reading.locator("main a[data-source]")
    links.nth(2).focus()
    reading.keyboard.press("Enter")
    expect(panel.locator(".source-title")).to_be_focused()
    reading.keyboard.press("n")
    expect(panel.locator(".source-count")).to_have_text(re.compile("^4 of"))
    expect(links.nth(3)).to_have_attribute("aria-current", "true")
    for count in range(5, 9):  # places further down in their files too
        reading.keyboard.press("n")
        expect(panel.locator(".source-count")).to_have_text(re.compile(f"^{count} of"))
        expect(panel.locator("[aria-busy]")).to_have_count(0)
        if panel.locator("mark").count():
            expect(panel.locator("mark").first).to_be_in_viewport()
    for _ in range(4, 9):
        panel.get_by_role("button", name="Previous reference").click()
    expect(panel.locator(".source-count")).to_have_text(re.compile("^3 of"))
    reading.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(links.nth(2)).to_be_focused()
    expect(reading.locator("main [aria-current]")).to_have_count(0)


@pytest.mark.exhaustive
def test_the_first_has_none_before_it(reading: Page) -> None:
    reading.locator("main a[data-source]").first.click()
    previous = panel_of(reading).get_by_role("button", name="Previous reference")
    expect(previous).to_have_attribute("aria-disabled", "true")
    expect(panel_of(reading).get_by_role("button", name="Next reference")).to_have_attribute("aria-disabled", "false")


def test_a_click_into_the_quote_itself_opens_it(reading: Page) -> None:
    steps = "[...document.querySelectorAll('main a')].map(link => link.href).find(to => /steps\\/\\d+\\//.test(to))"
    reading.goto(reading.evaluate(steps))
    quote = reading.locator("main .quote:has(a[data-source])").first
    quote.click(position={"x": 30, "y": 8})
    expect(panel_of(reading).locator("mark").first).to_be_visible()


@pytest.mark.exhaustive
def test_on_a_phone_it_is_a_sheet_below_the_reference(reading: Page) -> None:
    reading.set_viewport_size({"width": 390, "height": 844})
    link = reading.locator(PLACES).nth(1)
    link.click()
    panel = panel_of(reading)
    expect(panel.locator("mark").first).to_be_in_viewport()
    sheet, place = panel.bounding_box(), link.bounding_box()
    assert sheet
    assert place
    assert (sheet["x"], sheet["width"], round(sheet["y"] + sheet["height"])) == (0, 390, 844)
    assert place["y"] + place["height"] <= sheet["y"], "the reference is seen above the sheet"
    assert reading.evaluate("document.documentElement.scrollWidth") <= 390
    check_accessible(reading)
    reading.mouse.click(200, 20)
    expect(panel).to_be_hidden()


@pytest.mark.provokes("ERR_INTERNET_DISCONNECTED")
def test_without_a_connection_it_says_so_and_keeps_the_page(reading: Page) -> None:
    reading.context.set_offline(True)
    reading.locator(PLACES).nth(1).click()
    expect(panel_of(reading)).to_contain_text("Not loaded: no connection. Open its page.")
    reading.context.set_offline(False)
    panel_of(reading).get_by_role("button", name="Next reference").click()
    expect(panel_of(reading).locator("mark").first).to_be_visible()


@pytest.mark.exhaustive
def test_other_clicks_open_the_page_as_any_link_does(reading: Page) -> None:
    with reading.context.expect_page() as opened:
        reading.locator(PLACES).nth(1).click(modifiers=["ControlOrMeta"])
    expect(opened.value.locator("mark#hit")).to_be_visible()
    expect(panel_of(reading)).to_have_count(0)


@pytest.mark.exhaustive
def test_without_javascript_a_reference_is_a_link_to_the_place(plain: Page, report: str) -> None:
    plain.goto(report)
    plain.locator(PLACES).nth(1).click()
    expect(plain).to_have_url(re.compile(r"/files/.*#hit$"))
    expect(plain.locator("mark#hit")).to_be_visible()
