"""Whether a page can be used by everybody: the rules of axe in both themes, and nothing wider than a small phone."""

from __future__ import annotations

from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

COLOUR_RULES = ["color-contrast", "link-in-text-block"]
THEMES: tuple[tuple[Literal["light", "dark"], dict[str, Any]], ...] = (
    ("light", {}),
    ("dark", {"runOnly": COLOUR_RULES}),
)
"""With the options of axe. They differ in colours alone (`static/css/tokens.css`): of dark only these are looked at."""
_SCRIPT = Axe().axe_script
_RUN = """async (options) => {
    const sparing = {resultTypes: ["violations"], selectors: false, preload: false};
    const found = await axe.run(document, {...sparing, ...options});
    return found.violations.map((rule) => [rule.id, rule.nodes.map((node) => node.html.slice(0, 200))]);
}"""
"""Without what nobody reads, and without fetching first what only rules for sounds and films ask for."""
_LOOKS = """() => {
    const grounds = new Map([[null, ""]]);
    const ground = (element) => {
        if (!grounds.has(element)) {
            const {backgroundColor, backgroundImage, opacity} = getComputedStyle(element);
            const own = `${backgroundColor} ${backgroundImage} ${opacity}/`;
            grounds.set(element, ground(element.parentElement) + (own === "rgba(0, 0, 0, 0) none 1/" ? "" : own));
        }
        return grounds.get(element);
    };
    const hasText = (element) => element.matches("input, select, textarea")
        || [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    window.looks ??= new Map();
    for (const element of document.body.querySelectorAll("*")) {
        if (!hasText(element) || !element.checkVisibility()) continue;
        const {color, fontSize, fontWeight, textDecorationLine} = getComputedStyle(element);
        const around = getComputedStyle(element.parentElement).color;
        const look = [color, around, fontSize, fontWeight, textDecorationLine, ground(element)].join("; ");
        window.looks.set(element, (window.looks.get(element) ?? "") + look + "\\n");
    }
}"""
"""Notes how each element with text of its own looks in the current theme: its colours, those of its ancestors' grounds,
size, weight and decoration. It does not see what lies under an element only by its position.
"""
_RUN_COLOURS = """async ([rules, known]) => {
    const elements = [...window.looks].filter(([, look]) => !known.includes(look)).map(([element]) => element);
    if (!elements.length) return [[], []];
    const options = {runOnly: rules, resultTypes: ["violations", "passes"], elementRef: true, selectors: false};
    const found = await axe.run({include: elements}, {...options, preload: false});
    const passed = found.passes.filter((rule) => rule.id === "color-contrast").flatMap((rule) => rule.nodes);
    return [
        found.violations.map((rule) => [rule.id, rule.nodes.map((node) => node.html.slice(0, 200))]),
        passed.map((node) => window.looks.get(node.element)).filter((look) => look),
    ];
}"""


def check_accessible(page: Page, options: dict[str, Any] | None = None) -> None:
    """The rules of axe, on the page as it is now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SCRIPT)
    assert page.evaluate(_RUN, options or {}) == []


def check_both_themes(page: Page) -> None:
    """Likewise in light and in dark. Of a page without motion: colours that fade would be measured halfway."""
    for scheme, options in THEMES:
        page.emulate_media(color_scheme=scheme)
        check_accessible(page, options)


class Walk:
    """Checks newly opened pages, one after the other. The contrast of text is not measured again if text with the same
    look has passed on an earlier page: measuring takes most of the time.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._passed: set[str] = set()

    def check_both_themes(self) -> None:
        self._page.emulate_media(color_scheme="light")
        check_accessible(self._page, {"rules": {rule: {"enabled": False} for rule in COLOUR_RULES}})
        self._page.evaluate(_LOOKS)
        self._page.emulate_media(color_scheme="dark")
        self._page.evaluate(_LOOKS)
        passed_in_dark = self._check_colours()
        self._page.emulate_media(color_scheme="light")
        self._passed |= passed_in_dark & self._check_colours()

    def _check_colours(self) -> set[str]:
        violations, passed = self._page.evaluate(_RUN_COLOURS, [COLOUR_RULES, sorted(self._passed)])
        assert violations == []
        return set(passed)


def check_fits(page: Page, width: int = 360) -> None:
    """Nothing stands beyond the edge of a small phone."""
    before = page.viewport_size
    assert before
    page.set_viewport_size({"width": width, "height": 740})
    try:
        expect(page.locator("html")).to_have_js_property("scrollWidth", width)
    finally:
        page.set_viewport_size(before)
