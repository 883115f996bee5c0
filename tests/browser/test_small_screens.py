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


def test_bars_stay_in_view_where_there_is_room(blank: Page, site: Site, me: str) -> None:
    page = blank
    page.goto(f"{site.url}/runs/{site.write('runs', me, 'plan of 40')[0]}/")
    assert page.evaluate(STICKY) == ["decide"]
