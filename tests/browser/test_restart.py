"""A server that is killed in mid-step, on a site of its own: results of earlier runs would leave no step to be in."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.site import Site, by_link, served
from tests.browser.test_story import LONG, approve, beside, gate, numbers_in, try_the_samples
from tests.installation import Installation


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, installation: Installation) -> Iterator[Site]:
    with served(installation.copy(tmp_path_factory.mktemp("killed")), PEV_LEASE_SECONDS="2") as site:
        yield site


@pytest.fixture(scope="module")
def signed_in(browser: Browser, site: Site) -> StorageState:
    return by_link(browser, site)


@pytest.mark.provokes("WebSocket", "htmx", "ERR_CONNECTION")
@pytest.mark.exhaustive
def test_a_killed_server_is_followed_again(page: Page, site: Site) -> None:
    try_the_samples(page)
    page.evaluate("window.neverReloaded = true")
    history = beside(page, "History")
    approve(page, "plan")
    history.bring_to_front()
    expect(history.locator("#history-lines")).to_contain_text("Attempt 1", timeout=LONG)
    site.kill()
    site.start()
    expect(gate(page, "step")).to_be_visible(timeout=2 * LONG)
    approve(page, "step")
    expect(page.locator("#run-result")).to_contain_text("Succeeded", timeout=LONG, ignore_case=True)
    assert page.evaluate("window.neverReloaded")
    expect(history.locator("#run-state")).to_contain_text("succeeded", timeout=LONG)
    numbers = numbers_in(history)
    assert numbers == list(range(1, len(numbers) + 1))
