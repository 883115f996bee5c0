"""What weakens the evidence of a result stands at its gate and on the page of its step."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.accessible import check_both_themes
from tests.browser.site import Site


def test_one_quote_for_three_criteria_and_coverage_are_said_before_the_result(blank: Page, site: Site, me: str) -> None:
    page = blank
    (run,) = site.write("runs", me, "sampled")
    page.goto(f"{site.url}/runs/{run}/")
    gate = page.locator("article.gate")
    shared, counted = (gate.get_by_text(words) for words in ("One quote supports 3 criteria", "6 of 23 points have"))
    expect(shared).to_be_in_viewport()
    expect(counted).to_be_in_viewport()
    gate.locator("summary", has_text="Criteria").click()
    fold = gate.locator("details", has=page.locator("summary", has_text="Criteria"))
    expect(fold.get_by_text("One quote supports 3 criteria")).to_be_visible()
    check_both_themes(page)
    page.goto(f"{site.url}/runs/{run}/steps/{site.write('step', run, 'review')}/")
    attempt = page.locator("#attempt-2")
    expect(attempt.get_by_text("One quote supports 3 criteria")).to_be_visible()
    expect(attempt.get_by_text("6 of 23 points have evidence")).to_be_visible()
    check_both_themes(page)
