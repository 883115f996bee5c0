"""Help, glossary and the finished sample, in a real browser: what somebody new looks at first."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_story import LONG, tab


@pytest.mark.exhaustive
def test_the_finished_sample_is_one_click_away_and_can_be_read(page: Page) -> None:
    page.get_by_role("button", name="See a finished sample").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"), timeout=LONG)
    expect(page.locator("#run-result")).to_contain_text("Succeeded", timeout=LONG, ignore_case=True)
    expect(page.locator(".run-header .badge", has_text="Sample")).to_be_visible()
    expect(page.locator("article.gate")).to_have_count(0)
    tab(page, "Steps")
    page.locator("#run-controls").get_by_role("link", name="Report").click()
    page.locator("main li a[data-source]", has_text="“").first.click()
    expect(page.locator("dialog mark").first).to_be_visible()


def test_from_help_to_a_word_of_the_glossary(page: Page) -> None:
    page.get_by_role("link", name="Help", exact=True).last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("How it works")
    page.get_by_role("navigation", name="Help").get_by_role("link", name="Glossary").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Glossary")
    expect(page.locator("dt", has_text="Passed at once")).to_be_visible()
