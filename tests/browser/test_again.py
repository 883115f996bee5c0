"""A finished run is run again with changes in a real browser: what would be reused is said, and stays true."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.accessible import check_both_themes
from tests.browser.site import Site, wait_for_kept

LONG = 90_000
NEW: FilePayload = {"name": "sales.csv", "mimeType": "text/csv", "buffer": b"item,sum\npaint,3\n"}


@pytest.fixture(scope="module")
def finished(site: Site, me: str) -> str:
    """The address of the finished sample."""
    number = site.write("sample", me)
    return f"{site.url}/runs/{number}/"


@pytest.fixture
def page(blank: Page) -> Page:
    """Each test opens the page that it is about."""
    return blank


def reuse(page: Page) -> Locator:
    return page.locator("#reuse")


OLD = "contracts/Büro lease.md"
ALL = "5 of 5 reused"
"""Where nothing has changed; two of the steps had run side by side."""


@pytest.mark.exhaustive
@pytest.mark.provokes("signal is aborted")  # a newer question takes the place of one under way
def test_what_would_be_reused_follows_files_and_policy_until_it_is_started(page: Page, finished: str) -> None:
    page.goto(f"{finished}again/")
    page.get_by_role("link", name="Change files, request or policy…").click()
    expect(page.get_by_role("heading", name="Run it again with changes")).to_be_visible()
    expect(reuse(page)).to_contain_text(ALL)
    page.locator("input#id_files").set_input_files(NEW)
    expect(reuse(page)).to_contain_text("0 of 5 reused")
    expect(reuse(page)).to_contain_text("because sales.csv is new")
    expect(page.locator("#draft-files strong")).to_contain_text("4 files")
    page.reload()
    expect(page.locator("#draft-files strong")).to_contain_text("4 files")
    page.get_by_role("button", name="Remove sales.csv").click()
    expect(reuse(page)).to_contain_text(ALL)
    page.locator(".policy-fold summary").click()
    page.fill("#id_rounds", "7")
    page.locator("#id_rounds").blur()
    expect(reuse(page)).to_contain_text("because the policy changed: rounds")
    wait_for_kept(page, '["rounds","","7"]')
    page.reload()
    expect(page.locator("#id_rounds")).to_have_value("7")
    expect(reuse(page)).to_contain_text("because the policy changed: rounds")
    page.locator(".policy-fold summary").click()
    page.fill("#id_rounds", "12")
    page.get_by_role("button", name="What would be reused?").click()
    expect(reuse(page)).to_contain_text(ALL)
    page.get_by_text("Hands-off").click()
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"), timeout=LONG)
    assert page.url != finished
    expect(page.locator("#run-now")).to_contain_text("Succeeded", timeout=LONG, ignore_case=True)


@pytest.mark.provokes("signal is aborted")  # a newer question takes the place of one under way
@pytest.mark.exhaustive
def test_a_file_without_its_folder_replaces_the_old_one_and_is_there_when_one_comes_back(
    page: Page, finished: str
) -> None:
    lease: FilePayload = {"name": OLD.rsplit("/")[-1], "mimeType": "text/plain", "buffer": b"Another lease.\n"}
    page.goto(f"{finished}again/with/")
    page.fill("#id_request", "Another request")
    page.locator("input#id_files").set_input_files(lease)
    expect(page.locator("#draft-files")).to_contain_text(f"replaces {OLD}")
    expect(page.locator("#draft-files strong")).to_contain_text("3 files")
    expect(reuse(page)).to_contain_text(f"{OLD} changed")
    check_both_themes(page)
    wait_for_kept(page, "Another request")
    page.goto(finished)
    page.goto(f"{finished}again/")
    page.get_by_role("link", name="Change files, request or policy…").click()
    expect(page.locator("#draft-files")).to_contain_text(f"replaces {OLD}")
    expect(page.locator("#id_request")).to_have_value("Another request")
    page.get_by_role("button", name="Keep both").click()
    expect(page.locator("#draft-files strong")).to_contain_text("4 files")
    page.get_by_role("button", name=f"Remove {OLD}").click()
    page.get_by_role("button", name=f"Put back {OLD}").click()
    expect(page.get_by_role("button", name=f"Remove {OLD}")).to_be_visible()
    page.get_by_role("button", name="Start over").click()
    expect(page.locator("#draft-files strong")).to_contain_text("3 files")
    expect(page.locator("#id_request")).not_to_have_value("Another request")
    expect(reuse(page)).to_contain_text(ALL)


@pytest.mark.exhaustive
@pytest.mark.provokes("signal is aborted")
def test_words_alone_are_there_when_one_comes_back_until_one_starts_over(page: Page, finished: str) -> None:
    page.goto(f"{finished}again/with/")
    before = page.input_value("#id_request")
    page.fill("#id_request", "Only words")
    wait_for_kept(page, "Only words")
    page.goto(finished)
    page.goto(f"{finished}again/with/")
    expect(page.locator("#id_request")).to_have_value("Only words")
    page.get_by_role("button", name="Start over").click()
    expect(page.locator("#id_request")).to_have_value(before)


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
@pytest.mark.exhaustive
def test_it_fits_and_its_button_is_in_view(page: Page, finished: str, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{finished}again/with/")
    expect(page.get_by_role("button", name="Start the run")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.exhaustive
def test_without_a_script_a_button_asks_and_another_starts(plain: Page, finished: str) -> None:
    page = plain
    page.goto(f"{finished}again/with/")
    expect(reuse(page)).to_contain_text(ALL)
    page.locator("input#id_files").set_input_files(NEW)
    page.get_by_role("button", name="What would be reused?").click()
    expect(reuse(page)).to_contain_text("because sales.csv is new")
    page.get_by_role("button", name="Remove sales.csv").click()
    expect(page.get_by_role("heading", name="Run it again with changes")).to_be_visible()
    expect(reuse(page)).to_contain_text(ALL)
    page.fill("#id_request", "Something else")
    page.get_by_role("button", name="What would be reused?").click()
    expect(reuse(page)).to_contain_text("because the request changed")
    assert page.input_value("#id_request") == "Something else"


@pytest.mark.exhaustive
def test_where_htmx_is_missing_asking_starts_nothing(page: Page, finished: str) -> None:
    page.route(
        "**/htmx-4*.js",
        lambda route: route.fulfill(body="var htmx = { registerExtension() {} };", content_type="text/javascript"),
    )
    page.goto(f"{finished}again/with/")
    page.fill("#id_request", "Something else")
    page.get_by_role("button", name="What would be reused?").click()
    expect(reuse(page)).to_contain_text("because the request changed")
    assert page.url.split("?")[0] == f"{finished}again/with/"
