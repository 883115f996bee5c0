"""A run from its start to its report in a browser without JavaScript: pages are loaded again to see what is new."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.site import Site
from tests.browser.test_story import gate


def until(page: Page, what: Locator) -> None:
    """Load the page again until this is there."""
    ends = time.monotonic() + 180
    while not what.count():
        assert time.monotonic() < ends, page.locator("main").inner_text()
        page.wait_for_timeout(100)  # as people would, only faster
        page.reload()


def start(page: Page, site: Site) -> None:
    page.goto(site.url)
    button = page.get_by_role("button", name="Try it: three sample contracts")
    if not button.count():
        page.get_by_role("link", name="New run").first.click()
    button.first.click()
    until(page, gate(page, "plan"))


def test_a_run_is_decided_read_and_downloaded(plain: Page, site: Site) -> None:
    start(plain, site)
    with plain.expect_request(lambda request: request.method == "POST") as sent:
        gate(plain, "plan").get_by_role("button", name="Approve").click()
    assert str(sent.value.post_data).count("opening=") == 1, "when the page was opened"
    until(plain, gate(plain, "step"))
    question = gate(plain, "step")
    question.locator("summary", has_text="Points").click()
    expect(question.get_by_role("link", name="“").first).to_be_visible()
    question.locator("summary", has_text="Criteria").click()
    question.get_by_role("link", name="On the page of this step").locator("visible=true").click()
    expect(plain.get_by_role("heading", level=3, name="Attempt 1")).to_be_visible()
    plain.go_back()
    question.locator(".decide textarea").fill("Name the clause.")
    question.get_by_role("button", name="Request changes").click()
    until(plain, plain.locator(".run-decided", has_text="Name the clause."))
    until(plain, gate(plain, "step"))
    for name in ("Plan", "Steps", "Files", "History", "Cost", "Overview"):
        plain.locator("#run-tabs").get_by_role("link", name=name).click()
        expect(plain.locator("#run-tabs [aria-current=page]")).to_contain_text(name)
    gate(plain, "step").get_by_role("button", name="Accept").click()
    until(plain, plain.locator("#run-result").get_by_text("Succeeded"))
    plain.locator("#run-controls").get_by_role("link", name="Report").click()
    expect(plain.get_by_role("heading", level=1)).to_be_visible()
    plain.locator(".toolbar .menu > summary").click()
    with plain.expect_download() as download:
        plain.get_by_role("link", name="Report as Markdown").click()
    assert Path(download.value.path()).read_text().startswith("# ")


@pytest.mark.exhaustive
def test_a_run_is_held_goes_on_and_is_stopped(plain: Page, site: Site) -> None:
    start(plain, site)
    plain.get_by_role("button", name="Pause").click()
    plain.get_by_role("button", name="Resume").click()
    expect(plain.get_by_role("button", name="Pause")).to_be_visible()
    plain.locator(".run-menu > summary").click()
    plain.get_by_role("button", name="Stop the run…").first.click()
    plain.get_by_role("button", name=re.compile("^Stop")).last.click()
    expect(plain.locator("#run-result")).to_contain_text("Stopped", ignore_case=True)
