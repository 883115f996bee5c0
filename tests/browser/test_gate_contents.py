"""What gates and stopped runs show before anything is opened, as one needs it to decide."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.site import Site


def opened(page: Page, site: Site, me: str, state: str) -> int:
    (run,) = site.write("runs", me, state)
    page.goto(f"{site.url}/runs/{run}/")
    return int(run)


def test_the_first_words_of_a_result_stand_at_its_gate_even_below_headings(blank: Page, site: Site, me: str) -> None:
    page = blank
    opened(page, site, me, "headed")
    lead = page.locator("article.gate .gate-lead")
    expect(lead).to_have_text(
        "Three clauses of the service agreement need work before it is signed. The fee of clause 7.2 has no currency."
    )
    expect(lead).to_be_in_viewport()
    expect(page.locator("article.gate")).not_to_contain_text("**")


def test_every_point_of_the_sample_has_its_source_and_what_to_do(blank: Page, site: Site, me: str) -> None:
    page = blank
    page.goto(f"{site.url}/runs/{site.write('sample_at', me, 'step')}/")
    points = page.locator("article.gate .points").first
    page.locator("article.gate summary", has_text="Points").click()
    rows = points.locator("tr:has(.point-source)")
    expect(rows.first).to_be_visible()
    assert rows.count() > 10
    assert [text for text in rows.locator(".point-source").all_inner_texts() if not text.strip()] == []
    expect(points.get_by_role("columnheader", name="Recommendation")).to_be_visible()
    assert points.locator(".point-group").count() > 1


@pytest.mark.parametrize(
    ("state", "rest", "button"),
    [
        ("budget", r"The rest is estimated at \$[\d.]+ to \$[\d.]+", r"Raise to \$\d+\.\d\d"),
        ("time limit", "At the same pace the rest takes about 62 minutes", "Raise to 93 minutes"),
    ],
)
def test_a_limit_names_steps_rest_and_amount(
    blank: Page, site: Site, me: str, state: str, rest: str, button: str
) -> None:
    page = blank
    opened(page, site, me, state)
    gate = page.locator("article.gate")
    expect(gate).to_contain_text("1 of 3 steps done. In progress: “Review the clauses”.")
    expect(gate).to_contain_text(re.compile(rest))
    expect(gate).to_contain_text("Suggested: ")
    approve = gate.locator(".decide-buttons > button[value=approve]")
    expect(approve).to_have_text(re.compile(f"^{button}$"))
    field = gate.get_by_role("spinbutton")
    expect(field).to_have_accessible_description(re.compile("^Suggested: "))
    field.fill("90")
    expect(approve).to_have_text(re.compile(r"Raise to \$?90"))
    expect(gate.locator("button[value=reject]")).to_have_text("Finish now with 1 of 3 steps")


def test_what_is_not_met_comes_first_and_leads_to_the_place(blank: Page, site: Site, me: str) -> None:
    page = blank
    run = opened(page, site, me, "exhausted")
    first = page.locator("article.gate .gate-lines > li").first
    expect(first).to_contain_text("Not met")
    expect(first).to_be_in_viewport()
    page.goto(f"{site.url}/runs/{run}/steps/{site.write('step', run, 'review')}/")
    judged = page.locator("#attempt-2 .judgement")
    expect(judged.first).not_to_have_attribute("data-status", "passed")
    expect(judged.last).to_have_attribute("data-status", "passed")


def test_a_run_that_was_stopped_on_purpose_has_no_open_points(blank: Page, site: Site, me: str) -> None:
    page = blank
    opened(page, site, me, "stopped")
    result = page.locator("#run-result")
    expect(result).to_contain_text("Stopped")
    expect(result).not_to_contain_text("Open point")
    expect(result.locator('[data-mark="bad"]')).to_have_count(0)


def test_a_decision_is_snoozed_and_comes_back(blank: Page, site: Site) -> None:
    page = blank
    (session,) = site.account("sleeper")["cookies"]
    page.context.add_cookies([{"name": session["name"], "value": session["value"], "url": site.url}])
    opened(page, site, "sleeper", "plan of 4")
    page.get_by_label("More about this decision").click()
    page.get_by_role("button", name="4 hours").click()
    expect(page.locator("#messages")).to_contain_text("Snoozed until")
    expect(page.get_by_role("heading", name="Nothing needs your decision")).to_be_visible()
    page.get_by_role("link", name="1 snoozed").click()
    page.get_by_role("button", name="Bring back").click()
    expect(page.locator("#messages")).to_contain_text("The decision is back in your inbox.")
    expect(page.get_by_role("link", name="Review these three contracts")).to_be_visible()
