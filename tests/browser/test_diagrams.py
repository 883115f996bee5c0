"""Diagrams in a real browser: pictures that move nothing, on a phone and in the dark, and what cannot be drawn."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_both_themes, check_fits
from tests.browser.screenshots import pictures
from tests.browser.site import Site

SHIFTS = """() => { window.shifts = 0; new PerformanceObserver((list) => { for (const one of list.getEntries())
    window.shifts += one.value; }).observe({type: "layout-shift", buffered: true}); }"""
DRAWN = "() => [...document.querySelectorAll('.diagram img')].every((one) => one.complete && one.naturalWidth > 0)"


@pytest.fixture(scope="module")
def files(site: Site, me: str) -> str:
    return f"{site.url}/runs/{site.write('diagrams', me)}/files/"


@pytest.fixture
def page(blank: Page) -> Page:
    """Each test opens the page that it is about."""
    return blank


@pytest.mark.exhaustive
@pytest.mark.provokes("404")
def test_pictures_move_nothing_and_what_cannot_be_drawn_says_so(page: Page, files: str) -> None:
    page.goto(f"{files}parts.md")
    page.evaluate(SHIFTS)
    figures = page.locator("figure.diagram")
    expect(figures).to_have_count(4)
    for number in range(4):
        figures.nth(number).scroll_into_view_if_needed()
    expect(figures.nth(3).locator(".alert")).to_have_text("This diagram could not be drawn. Its source is below.")
    expect(figures.nth(3).locator("pre")).to_contain_text("a[Open --> b")
    for number in range(3):
        expect(figures.nth(number).locator("img")).to_have_js_property("complete", True)
    assert page.evaluate("window.shifts") < 0.1
    page.goto(f"{files}parts.md")
    expect(figures.nth(3).locator(".alert").first).to_contain_text("This diagram is not drawn: Error: Parse error")
    page.evaluate(SHIFTS)
    for number in range(3):
        figures.nth(number).scroll_into_view_if_needed()
    page.wait_for_function(DRAWN)
    assert page.evaluate("window.shifts") < 0.1
    check_both_themes(page)
    check_fits(page)
    pictures(page, "parts")


def test_a_mermaid_file_is_its_diagram(page: Page, files: str) -> None:
    page.goto(f"{files}flow.mmd")
    expect(page.get_by_role("img", name="Flowchart")).to_be_visible()
    page.get_by_text("Source of the diagram").click()
    expect(page.locator("figure.diagram pre")).to_contain_text("flowchart LR")
    check_both_themes(page)
    check_fits(page)
    pictures(page, "flow")
