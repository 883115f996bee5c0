"""The charts of the metrics, in a real browser: each has drawn something, and has its table."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.site import Site

CHARTS = ["outcomes", "yield", "retries", "costs", "waiting", "confidence", "failing"]
COLOURS = """canvas => {
    const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let at = 0; at < all.length; at += 4) if (all[at + 3]) seen.add(all.slice(at, at + 4).join());
    return seen.size;
}"""


def test_each_chart_is_drawn_and_has_its_table(blank: Page, site: Site, me: str) -> None:
    page = blank
    site.write("runs", me, "succeeded", "partial", "exhausted", "stopped")
    page.goto(f"{site.url}/metrics/")
    charts = page.locator(".chart:has(canvas)")  # the others are tables
    assert [one.get_attribute("data-chart") for one in charts.locator("canvas").all()] == CHARTS
    for chart in charts.all():
        assert chart.locator("canvas").evaluate(COLOURS) > 3, "lines, bars and words, and not one surface"
        table = chart.locator("table").first
        expect(table).to_be_hidden()
        chart.locator("details.fold > summary").first.click()
        expect(table).to_be_visible()
        assert table.locator("tbody tr").count() >= 1
