"""Whether a page can be used by everybody: the rules of axe in both themes, and nothing wider than a small phone."""

from __future__ import annotations

from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

THEMES: tuple[tuple[Literal["light", "dark"], dict[str, list[str]]], ...] = (
    ("light", {}),
    ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]}),
)
"""With the options of axe. They differ in colours alone (`static/css/tokens.css`): of dark only these are looked at."""
_SCRIPT = Axe().axe_script
_RUN = """async (options) => {
    const sparing = {resultTypes: ["violations"], selectors: false, preload: false};
    const found = await axe.run(document, {...sparing, ...options});
    return found.violations.map((rule) => [rule.id, rule.nodes.map((node) => node.html.slice(0, 200))]);
}"""
"""Without what nobody reads, and without fetching first what only rules for sounds and films ask for."""


def check_accessible(page: Page, options: dict[str, list[str]] | None = None) -> None:
    """The rules of axe, on the page as it is now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SCRIPT)
    assert page.evaluate(_RUN, options or {}) == []


def check_both_themes(page: Page) -> None:
    """Likewise in light and in dark. Of a page without motion: colours that fade would be measured halfway."""
    for scheme, options in THEMES:
        page.emulate_media(color_scheme=scheme)
        check_accessible(page, options)


def check_fits(page: Page, width: int = 360) -> None:
    """Nothing stands beyond the edge of a small phone."""
    before = page.viewport_size
    page.set_viewport_size({"width": width, "height": 740})
    expect(page.locator("html")).to_have_js_property("scrollWidth", width)
    assert before
    page.set_viewport_size(before)
