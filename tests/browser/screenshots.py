"""The pictures: `python -m tests.browser.screenshots [FOLDER]` takes the README's, or all pages into a folder."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.site import FLAGS, Site, sign_in
from tests.installation import ROOT
from tests.optional import chromium

PICTURES = ROOT / ".github"
SHAPES = {"wide": (1280, 900), "phone": (390, 844)}
LONG = 60_000
TABS = ("Plan", "Steps", "Files", "History", "Cost")


def main(folder: Path | None) -> None:
    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        site = Site(Path(data), delay=0.3)
        try:
            link = site.start()
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            if folder is None:
                readme(browser, link)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                album(browser, link, folder)
        finally:
            site.kill()


def readme(browser: Browser, link: str) -> None:
    """The pictures that README shows: a plan that needs a decision, a result that does, and a report."""
    page = browser.new_page(viewport={"width": 1120, "height": 760}, color_scheme="light")
    sign_in(page, link)
    sample(page)
    page.screenshot(path=PICTURES / "plan-gate.png")
    approve(page, "plan", "article.gate[data-kind=step]")
    page.locator("article.gate summary", has_text="Points").click()
    page.screenshot(path=PICTURES / "run.png")
    approve(page, "step", "#run-result .outcome")
    page.locator("#run-controls").get_by_role("link", name="Report").click()
    page.screenshot(path=PICTURES / "report.png")


def sample(page: Page) -> None:
    page.get_by_role("button", name="Try it").click()
    page.wait_for_selector("article.gate[data-kind=plan]", timeout=LONG)
    page.wait_for_timeout(400)


def approve(page: Page, kind: str, then: str) -> None:
    page.locator(f"article.gate[data-kind={kind}] button[value=approve]").click()
    page.wait_for_selector(then, timeout=LONG)
    page.wait_for_timeout(400)


def album(browser: Browser, link: str, folder: Path) -> None:
    """Every page in every shape and scheme, named `NAME-SHAPE-SCHEME.png`."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    shots = Shots(folder, page)
    page.goto(link)
    shots.take("sign-in-link")
    sign_in(page, link)
    shots.take("inbox-first")
    page.get_by_role("link", name="New run").first.click()
    shots.take("new-run")
    page.get_by_role("link", name="Inbox").click()
    sample(page)
    shots.take("plan-gate")
    page.get_by_role("link", name="Edit it").click()
    shots.take("plan-editor")
    page.go_back()
    approve(page, "plan", "article.gate[data-kind=step]")
    shots.take("step-gate")
    approve(page, "step", "#run-result .outcome")
    shots.take("finished")
    for name in TABS:
        page.locator("#run-tabs").get_by_role("link", name=name).click()
        shots.take(name.lower())
    page.locator("#run-controls").get_by_role("link", name="Report").click()
    shots.take("report")
    for name in ("Inbox", "Metrics", "Help"):
        page.get_by_role("link", name=name).first.click()
        shots.take(name.lower())


class Shots:
    """Takes the page as it is in all shapes and schemes, and puts it back."""

    def __init__(self, folder: Path, page: Page) -> None:
        self._folder = folder
        self._page = page

    def take(
        self,
        name: str,
        *,
        at: str = "",
        schemes: tuple[Any, ...] = ("light", "dark"),
        shapes: tuple[str, ...] = tuple(SHAPES),
    ) -> None:
        for scheme in schemes:
            for shape in shapes:
                width, height = SHAPES[shape]
                self._page.emulate_media(color_scheme=scheme)
                self._page.set_viewport_size({"width": width, "height": height})
                if at:
                    self._page.locator(at).first.scroll_into_view_if_needed()
                self._page.wait_for_timeout(150)
                picture = self._folder / f"{name}-{shape}-{scheme}.png"
                self._page.screenshot(path=picture, full_page=not at)
        self._page.set_viewport_size({"width": 1280, "height": 900})


def pictures(page: Page, name: str) -> None:
    """The page as it is now, wide and narrow, light and dark, in the folder that the variable SHOTS names, if any."""
    if folder := os.environ.get("SHOTS"):
        for width in (1280, 360):
            for scheme in ("light", "dark"):
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=Path(folder) / f"{name}-{width}-{scheme}.png", full_page=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
