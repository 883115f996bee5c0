"""One sees a model write: live, calm, as text whatever it is, and gone when the call is over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import heard, new_context, on_a_sample
from tests.browser.site import Site, by_link, served
from tests.browser.test_following import MAX_SHIFT, SHIFTS
from tests.browser.test_story import LONG, approve, gate, tab, try_the_samples
from tests.installation import Installation


@pytest.fixture
def slow(
    browser: Browser, tmp_path: Path, installation: Installation, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """The inbox of a site that is slow enough for a call to be watched."""
    with served(installation.copy(tmp_path / "slow"), delay=0.8) as site:
        context = new_context(browser, by_link(browser, site))
        with heard(context, site, request.node) as page:
            page.goto(site.url)
            yield page
        context.close()


def say(page: Page, **writing: Any) -> None:
    """As if the socket had brought it."""
    page.evaluate(
        """json => document.dispatchEvent(new CustomEvent("htmx:before:ws:message", {
            cancelable: true, detail: {message: {json}}}))""",
        {"writing": {"step": 1, "attempt": 1, "role": "executor", "name": "Read", **writing}},
    )


@pytest.mark.exhaustive
def test_the_text_of_a_call_is_seen_while_it_comes_and_goes_with_it(slow: Page) -> None:
    page = slow
    try_the_samples(page)
    box = page.locator("[data-writing]")
    expect(box).not_to_be_visible()
    approve(page, "plan")
    height = box.evaluate("element => element.offsetHeight")
    expect(box.locator(".writing-who")).to_have_text("Working · List the documents", timeout=LONG)
    expect(box.locator(".writing-doing")).to_have_text("uses “write file”", timeout=LONG)
    expect(box.locator(".writing-text")).to_contain_text("path: review/inventory.md")
    assert box.evaluate("element => element.offsetHeight") == height
    expect(box.locator(".writing-who")).to_contain_text("Offline rules", timeout=LONG)
    expect(gate(page, "step")).to_be_visible(timeout=2 * LONG)
    expect(box).to_have_attribute("data-idle", "")


@pytest.mark.exhaustive
def test_hostile_text_is_shown_as_text_and_a_silent_call_says_for_how_long(planned: Page) -> None:
    page = planned
    box = page.locator("[data-writing]")
    expect(box).to_have_attribute("data-idle", "")  # the planner's own call is over
    say(page, text="", tool="", thinking="", silent_s=10)
    doing = box.locator(".writing-doing")
    expect(doing).to_have_text(re.compile(r"^waiting for the first word for 1\d s$"))
    before = doing.inner_text()
    expect(doing).not_to_have_text(before)
    expect(doing).to_have_text(re.compile(r"^waiting for the first word for 1\d s$"))
    hostile = "<img src=x onerror='window.broken=1'><script>window.broken=1</script>"
    say(page, text=hostile, tool=hostile, thinking=hostile, silent_s=0)
    say(page, step=2, text="second", tool="", thinking="", silent_s=0)
    expect(box.locator(".writing-text")).to_have_text(hostile)
    expect(box.locator(".writing-others")).to_have_text("and 1 more")
    box.locator(".writing-thinking").evaluate("element => element.open = true")
    expect(box.locator(".writing-thought")).to_have_text(hostile)
    assert page.evaluate("window.broken") is None
    say(page, done=True)
    expect(box.locator(".writing-text")).to_have_text("second")


@pytest.mark.parametrize("size", [(1280, 900), (360, 740)], ids=["wide", "phone"])
@pytest.mark.exhaustive
def test_on_the_tab_of_steps_it_comes_and_goes_and_moves_no_row(
    blank: Page, site: Site, me: str, size: tuple[int, int]
) -> None:
    page = blank
    page.add_init_script(SHIFTS)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    on_a_sample(page, site, me, "plan")
    tab(page, "Steps")
    now = page.locator(".run-sentence").first
    assert now.evaluate("line => line.scrollHeight <= line.clientHeight && line.scrollWidth <= line.clientWidth")
    box, last = page.locator("[data-writing]"), page.locator("#run-steps .row").last
    expect(box).to_be_hidden()
    before = last.bounding_box()
    say(page, text="first", tool="", thinking="", silent_s=0)
    expect(box).to_be_in_viewport()
    assert last.bounding_box() == before
    say(page, done=True)
    expect(box).to_be_hidden()
    assert page.evaluate("window.shifted") < MAX_SHIFT
