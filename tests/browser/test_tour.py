"""The tour follows a person's first run, blocks nothing, and is closed for good with one click."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.accessible import check_both_themes
from tests.browser.site import Site


def test_it_shows_the_hint_of_what_the_run_asks(blank: Page, site: Site) -> None:
    page = blank
    (session,) = site.account("tourist")["cookies"]
    page.context.add_cookies([{"name": session["name"], "value": session["value"], "url": site.url}])
    page.goto(f"{site.url}/runs/new/")
    tour = page.get_by_role("note")
    expect(tour).to_contain_text("1 of 5")
    expect(page.get_by_text("Not for", exact=True)).to_be_visible()
    check_both_themes(page)
    (run,) = site.write("runs", "tourist", "plan of 4")
    page.goto(f"{site.url}/runs/{run}/")
    expect(tour).to_have_count(1)
    expect(tour).to_contain_text("Read the plan.")
    page.set_viewport_size({"width": 390, "height": 844})
    check_both_themes(page)
    site.write("halt", run)  # or its work could end before a slow browser sees the hint
    page.get_by_role("button", name="Approve", exact=True).click()
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(tour).to_contain_text("The server works on it.")
    page.goto(f"{site.url}/runs/{run}/report/")
    expect(tour).to_contain_text("Read the report.")
    tour.get_by_role("button", name="Close the tour").click()
    expect(page.locator("#messages")).to_contain_text("The tour is closed.")
    expect(tour).to_have_count(0)
    page.goto(f"{site.url}/help/")
    page.get_by_role("button", name="Start the tour again").click()
    expect(page.get_by_role("heading", name="New run")).to_be_visible()
    expect(tour).to_contain_text("1 of 5")


def test_the_first_result_has_its_hint(blank: Page, site: Site) -> None:
    page = blank
    (session,) = site.account("tourist-later")["cookies"]
    page.context.add_cookies([{"name": session["name"], "value": session["value"], "url": site.url}])
    (run,) = site.write("runs", "tourist-later", "result of 4")
    page.goto(f"{site.url}/runs/{run}/")
    expect(page.get_by_role("note")).to_contain_text("Check the result.")
