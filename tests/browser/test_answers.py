"""What each button of a decision does is said at the button: on hover and focus, and by touch."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_both_themes
from tests.browser.site import Site

KINDS = ["plan of 4", "start", "result of 4", "exhausted", "blocked", "error", "budget", "question", "mail"]


def check_in_view(page: Page, selector: str) -> None:
    box = page.locator(selector).bounding_box()
    size = page.viewport_size
    assert box is not None
    assert size is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= size["width"]
    assert box["y"] + box["height"] <= size["height"]


@pytest.mark.exhaustive
def test_every_button_of_every_decision_says_what_it_does(blank: Page, site: Site, me: str) -> None:
    page = blank
    for kind, run in zip(KINDS, site.write("runs", me, *KINDS), strict=True):
        page.goto(f"{site.url}/runs/{run}/")
        buttons = page.locator(".decide-buttons > button[name=verb]:enabled").all()
        assert buttons, kind
        for button in buttons:
            described = button.get_attribute("aria-describedby")
            tip = page.locator(f"#{described}")
            expect(tip).to_be_hidden()
            for size in ({"width": 1280, "height": 900}, {"width": 390, "height": 844}):
                page.set_viewport_size(size)  # type: ignore[arg-type]
                button.hover()
                expect(tip).to_be_visible()
                expect(button).to_have_accessible_description(tip.inner_text())
                check_in_view(page, f"#{described}")
                page.mouse.move(5, 5)
                expect(tip).to_be_hidden()


def test_it_is_shown_on_focus_and_closed_by_escape(blank: Page, site: Site, me: str) -> None:
    page = blank
    (run,) = site.write("runs", me, "plan of 4")
    page.goto(f"{site.url}/runs/{run}/")
    approve = page.locator(".decide-buttons > button[value=approve]")
    tip = page.locator(".tip[data-verb=approve]")
    expect(approve).to_have_accessible_description(
        "The steps are carried out as they are planned here. Calls that act outside and results of high-risk steps are "
        "asked about again, as the policy says."
    )
    page.keyboard.press("a")
    expect(approve).to_be_focused()
    expect(tip).to_be_visible()
    check_both_themes(page)
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    expect(approve).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".tip[data-verb=reject]")).to_be_visible()
    page.keyboard.press("Shift+Tab")
    expect(tip).to_be_visible()


def test_the_pointer_may_move_over_it(blank: Page, site: Site, me: str) -> None:
    page = blank
    (run,) = site.write("runs", me, "plan of 4")
    page.goto(f"{site.url}/runs/{run}/")
    tip = page.locator(".tip[data-verb=approve]")
    approve = page.locator(".decide-buttons > button[value=approve]")
    approve.hover()
    expect(tip).to_be_visible()
    box, button = tip.bounding_box(), approve.bounding_box()
    assert box is not None
    assert button is not None
    page.mouse.move(button["x"] + button["width"] / 2, box["y"] + box["height"] - 4, steps=8)
    page.wait_for_timeout(500)
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


@pytest.mark.parametrize("address", ["/runs/{}/", "/runs/{}/plan/"])
def test_a_menu_says_it_all_by_touch(blank: Page, site: Site, me: str, address: str) -> None:
    page = blank
    page.set_viewport_size({"width": 390, "height": 844})
    (run,) = site.write("runs", me, "plan of 4")
    page.goto(site.url + address.format(run))
    page.get_by_label("What each button does").click()
    answers = page.locator(".answers")
    expect(answers).to_contain_text("Nothing is carried out. The planner writes the next version with your words")
    expect(answers).to_contain_text("A stopped run cannot be started again.")
    check_in_view(page, ".answers")
    check_both_themes(page)
    page.keyboard.press("Escape")
    expect(answers).to_be_hidden()


def test_the_help_has_them_all_in_one_table(blank: Page, site: Site) -> None:
    page = blank
    page.goto(f"{site.url}/help/#decisions")
    rows = page.locator(".answers-table tbody tr")
    expect(rows).to_have_count(17)
    expect(rows.last).to_contain_text("A stopped run cannot be started again.")
