"""The browser: the distribution's Chromium, one site for the stories of a worker, and pages that report complaints.

Both end with the stories: Playwright keeps an event loop running in its thread, where Django refuses the database.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, StorageState, expect, sync_playwright

from tests.browser.site import FLAGS, Site, served
from tests.installation import Installation
from tests.optional import chromium

expect.set_options(timeout=60_000)
NUMBERS = itertools.count(1)
ARRIVALS = ".arrivals button"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory, installation: Installation) -> Iterator[Site]:
    """For all stories of a worker: each module has people of its own, who see nothing of the others."""
    with served(installation.copy(tmp_path_factory.mktemp("site")), PEV_MCP_SERVER="on") as site:
        yield site


@pytest.fixture(scope="module")
def me() -> str:
    """The name of the one who is signed in: somebody new for each module."""
    return f"alice-{next(NUMBERS)}"


@pytest.fixture(scope="module")
def signed_in(site: Site, me: str, request: pytest.FixtureRequest) -> StorageState:
    """The cookies of this person; of an administrator in a module that sets ADMINISTRATOR."""
    return site.account(me, administrator=getattr(request.module, "ADMINISTRATOR", False))


def asks_for_news(page: Page) -> None:
    """What comes while one looks waits behind a bar; whoever waits for it in a story presses the button there.

    At once: the bar goes by itself when nothing would be pushed any more, and a click would wait for its button.
    """
    press = "buttons => buttons.forEach((button) => button.click())"
    page.add_locator_handler(page.locator(ARRIVALS), lambda button: button.evaluate_all(press))


def on_a_sample(page: Page, site: Site, owner: str, kind: str) -> Page:
    """The page, on a new run of the sample that waits at a gate of this kind: that of its plan, or of its last step."""
    page.goto(f"{site.url}/runs/{site.write('sample_at', owner, kind)}/")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    return page


def new_context(browser: Browser, signed_in: StorageState | None = None) -> BrowserContext:
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, storage_state=signed_in, reduced_motion="reduce"
    )
    context.on("page", asks_for_news)
    return context


@contextmanager
def heard(context: BrowserContext, site: Site, test: pytest.Item) -> Iterator[Page]:
    """A page. Anything in the console that is worse than a log fails the test: CSP, scripts, sockets.

    A test that provokes complaints names a part of them with `@pytest.mark.provokes("422")`.
    """
    page = context.new_page()
    complaints: list[str] = []
    provoked = [str(part) for marker in test.iter_markers("provokes") for part in marker.args]

    def listen(message: ConsoleMessage) -> None:
        left = "WebSocket is closed before" in message.text  # the test went on to another page
        if message.type in {"error", "warning"} and not left and not any(part in message.text for part in provoked):
            complaints.append(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    page.close()
    assert complaints == []
    assert site.errors() == []


@pytest.fixture(scope="package")
def shared(browser: Browser) -> Iterator[BrowserContext]:
    """One for all stories of a worker: styles and scripts are loaded once."""
    context = new_context(browser)
    yield context
    context.close()


@pytest.fixture
def blank(
    shared: BrowserContext, site: Site, signed_in: StorageState, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """An empty page of a browser that remembers nothing but its cache, of the one who is signed in."""
    shared.clear_cookies()
    shared.add_cookies([{"name": one["name"], "value": one["value"], "url": site.url} for one in signed_in["cookies"]])
    with heard(shared, site, request.node) as page:
        kept = {"origin": site.url, "storageTypes": "local_storage"}  # set_storage_state takes ten times as long
        shared.new_cdp_session(page).send("Storage.clearDataForOrigin", kept)
        yield page
        shared.set_offline(False)
        for other in shared.pages:
            if other != page:
                other.close()


@pytest.fixture
def page(blank: Page, site: Site) -> Page:
    """The same on their inbox."""
    blank.goto(site.url)
    return blank


@pytest.fixture
def planned(blank: Page, site: Site, me: str) -> Page:
    """The same on a new run of the sample, whose plan needs a decision."""
    return on_a_sample(blank, site, me, "plan")


@pytest.fixture
def plain(browser: Browser, signed_in: StorageState) -> Iterator[Page]:
    """A signed-in page without JavaScript."""
    context = browser.new_context(storage_state=signed_in, java_script_enabled=False)
    yield context.new_page()
    context.close()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder to hand over."""
    folder = tmp_path / "notes"
    (folder / "old papers").mkdir(parents=True)
    (folder / "minutes.md").write_text("The minutes of October.\nAnna orders the paint by 3 November.\n")
    (folder / "old papers" / "Überblick.txt").write_text("A list of what was done.\nThe roof is still open.\n")
    return folder
