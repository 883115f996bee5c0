"""The pictures: `python -m tests.browser.screenshots [FOLDER]` takes the README's, or all pages into a folder, whose
`index.html` is a contact sheet.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from html import escape
from itertools import chain
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, StorageState, ViewportSize, sync_playwright

from tests.browser.pages import FOR_ADMINISTRATORS, FOR_STRANGERS, WALKS, Made, filled
from tests.browser.site import FLAGS, Site, sign_in
from tests.installation import ROOT
from tests.optional import chromium

PICTURES = ROOT / ".github"
WIDE, PHONE = ViewportSize(width=1280, height=900), ViewportSize(width=390, height=844)
FORMS: Mapping[str, tuple[ViewportSize, Literal["light", "dark"]]] = {
    "wide-light": (WIDE, "light"),
    "wide-dark": (WIDE, "dark"),
    "phone-light": (PHONE, "light"),
    "phone-dark": (PHONE, "dark"),
}
ERRORS = ["/sign-in/?spent", "/nowhere/"]
LONG = 60_000
SETTLING_MS = 250
"""For what arrives after the page: the socket, and parts that are fetched when they are visible."""
STYLE = """
body { font: 13px/1.4 sans-serif; margin: 1rem; background: #888; }
h3 { font: inherit; margin: 1.5rem 0 0.25rem; }
p { display: flex; gap: 8px; margin: 0; }
img { height: 420px; aspect-ratio: 1280 / 900; object-fit: cover; object-position: top; }
a:nth-child(n + 3) img { aspect-ratio: 390 / 844; }
"""


def main(folder: Path | None) -> None:
    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        site = Site(Path(data), delay=0.3, PEV_MCP_SERVER="on")
        try:
            link = site.start()
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            if folder is None:
                readme(browser, link)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                contact_sheet(browser, site, folder)
        finally:
            site.kill()


def readme(browser: Browser, link: str) -> None:
    """The pictures that README shows: a plan that needs a decision, a result that does, and a report."""
    page = browser.new_page(viewport={"width": 1120, "height": 900}, color_scheme="light", reduced_motion="reduce")
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
    page.get_by_role("button", name="Close the tour").click()
    page.get_by_text("The tour is closed.").wait_for()
    page.reload()
    page.wait_for_timeout(400)


def approve(page: Page, kind: str, then: str) -> None:
    page.locator(f"article.gate[data-kind={kind}] button[value=approve]").click()
    page.mouse.move(0, 0)  # or the words about the next button are on the picture
    page.wait_for_selector(then, timeout=LONG)
    page.wait_for_timeout(400)


def contact_sheet(browser: Browser, site: Site, folder: Path) -> None:
    """A picture of every page and every kind of gate in every form, and `index.html`, which shows them all."""
    owner = site.account("alice")
    made = Made(site, "alice")
    for address in [*chain(*WALKS.values()), *FOR_STRANGERS]:
        filled(address, made)  # all of it before the first picture, as the lists have it
    visits: list[tuple[str, StorageState | None, Sequence[str]]]
    visits = [(name, owner, addresses) for name, addresses in WALKS.items()]
    visits += [("administrators", site.account("root", administrator=True), FOR_ADMINISTRATORS)]
    visits += [("strangers", None, [*FOR_STRANGERS, *ERRORS])]
    names = {address: f"{number:03}" for number, address in enumerate(chain(*(one[2] for one in visits)), 1)}
    for form, (size, scheme) in FORMS.items():
        for _, state, addresses in visits:
            context = browser.new_context(
                viewport=size, color_scheme=scheme, storage_state=state, reduced_motion="reduce"
            )
            page = context.new_page()
            for address in addresses:
                page.goto(site.url + filled(address, made))
                page.wait_for_timeout(SETTLING_MS)
                page.screenshot(path=folder / f"{names[address]}-{form}.jpg", type="jpeg", quality=80, full_page=True)
            context.close()
    groups = [(title, [(names[address], address) for address in addresses]) for title, _, addresses in visits]
    (folder / "index.html").write_text(_sheet(groups))


def _sheet(groups: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> str:
    """The first screen of each picture. A click shows the whole page."""
    rows = []
    for title, pages in groups:
        rows.append(f"<h2>{escape(title.capitalize())}</h2>")
        for name, address in pages:
            shown = (f'<a href="{name}-{form}.jpg"><img src="{name}-{form}.jpg" alt="{form}"></a>' for form in FORMS)
            rows.append(f"<h3>{name} {escape(address)}</h3><p>{''.join(shown)}</p>")
    return f"<!doctype html><meta charset=utf-8><title>Contact sheet</title><style>{STYLE}</style>{''.join(rows)}"


def pictures(page: Page, name: str) -> None:
    """The page as it is now, wide and narrow, light and dark, in the folder that the variable SHOTS names, if any."""
    if folder := os.environ.get("SHOTS"):
        for width in (1280, 360):
            for scheme in ("light", "dark"):
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=Path(folder) / f"{name}-{width}-{scheme}.png", full_page=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    main(parser.parse_args().folder)
