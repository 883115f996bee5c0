"""The graph of the steps in a real browser: by keyboard, on a phone, and with the step under way in view."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_accessible
from tests.browser.conftest import on_a_sample
from tests.browser.site import Site


@pytest.mark.exhaustive
def test_arrow_keys_go_along_the_lines_and_a_phone_keeps_the_step_under_way_in_view(
    blank: Page, site: Site, me: str
) -> None:
    page = on_a_sample(blank, site, me, "step")
    nodes = page.locator("#run-graph .graph-drawing[data-shape=wide] .node")
    nodes.first.focus()
    expect(page.locator("path[data-lit]")).not_to_have_count(0)
    page.keyboard.press("ArrowRight")
    first, second = nodes.first.get_attribute("data-step"), page.evaluate("document.activeElement.dataset.step")
    assert page.locator(f"[data-shape=wide] path[data-from='{first}'][data-to='{second}']").count() == 1
    page.keyboard.press("ArrowLeft")
    expect(nodes.first).to_be_focused()
    page.evaluate("document.activeElement.blur()")

    page.set_viewport_size({"width": 390, "height": 500})
    page.reload()
    check_accessible(page)
    waiting = page.locator("#run-graph .graph-drawing[data-shape=narrow] .node[data-status=waiting]")
    graph, node = page.locator("[data-graph]").bounding_box(), waiting.bounding_box()
    assert graph
    assert node
    assert graph["x"] <= node["x"] < node["x"] + node["width"] <= graph["x"] + graph["width"], "it fits its width"
    assert graph["y"] <= node["y"] < node["y"] + node["height"] <= graph["y"] + graph["height"], "it is in view"
    waiting.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/steps/\d+/$"))
