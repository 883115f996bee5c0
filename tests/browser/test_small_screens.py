"""At 200 % zoom and on small phones the question is read on the first screen, and no bar lies over it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_both_themes, check_fits
from tests.browser.site import Site

STICKY = """() => [...document.querySelectorAll("main *")].filter((one) => one.offsetHeight
    && !one.closest("dialog, td") && ["sticky", "fixed"].includes(getComputedStyle(one).position)
).map((one) => one.className)"""


@pytest.mark.parametrize("size", [(640, 450), (360, 560)], ids=["zoomed to 200 %", "small phone"])
def test_the_question_is_on_the_first_screen_and_nothing_lies_over_it(
    blank: Page, site: Site, me: str, size: tuple[int, int]
) -> None:
    page = blank
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{site.url}/runs/{site.write('runs', me, 'plan of 40')[0]}/")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    header, heading = page.locator(".site-header").bounding_box(), page.locator(".gate h2").bounding_box()
    assert header
    assert heading
    assert header["height"] < 60
    assert heading["y"] + heading["height"] < size[1]
    assert page.evaluate(STICKY) == []
    check_fits(page)
    check_both_themes(page)
    page.goto(f"{site.url}/runs/new/")
    assert page.evaluate(STICKY) == []


def test_a_phone_has_three_lines_of_header_and_the_request_after_the_page(blank: Page, site: Site, me: str) -> None:
    page = blank
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site.url}/runs/{site.write('runs', me, 'plan of 4')[0]}/")
    title, heading = page.locator(".run-title h1").bounding_box(), page.locator(".gate h2").bounding_box()
    request, gate = page.locator(".run-details").bounding_box(), page.locator(".gate").bounding_box()
    assert title
    assert heading
    assert request
    assert gate
    assert title["height"] < 30
    assert heading["y"] < 240
    assert request["y"] > gate["y"] + gate["height"]
    sentence = page.locator(".run-sentence")
    assert sentence.evaluate("one => one.offsetHeight") == 1, "the question stands at the gate"
    sentence.locator(".run-below").focus()
    assert sentence.evaluate("one => one.offsetHeight") > 10


def test_what_is_fine_stands_next_to_what_is_asked_where_there_is_room(blank: Page, site: Site, me: str) -> None:
    page = blank
    runs = site.write("runs", me, "plan of 4", "budget")
    page.goto(f"{site.url}/runs/{runs[0]}/")
    lead, facts = page.locator(".gate-lead").bounding_box(), page.locator(".gate-plain").bounding_box()
    assert lead
    assert facts
    assert (lead["x"] + lead["width"] < facts["x"], abs(lead["y"] - facts["y"]) < 2) == (True, True)
    page.goto(f"{site.url}/runs/{runs[1]}/")
    gate, tab = page.locator(".gate").bounding_box(), page.locator(".run-tab").bounding_box()
    assert gate
    assert tab
    assert gate["width"] < tab["width"], "a card is as wide as its text"


def test_bars_stay_in_view_where_there_is_room(blank: Page, site: Site, me: str) -> None:
    page = blank
    page.goto(f"{site.url}/runs/{site.write('runs', me, 'plan of 40')[0]}/")
    assert page.evaluate(STICKY) == ["decide"]
