"""A missing file is given at a gate: at a blocked step, at a plan that names it, and without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.accessible import check_both_themes
from tests.browser.site import Site
from tests.browser.test_gates import SIZES, in_view
from tests.browser.test_story import gate

ANNEX = FilePayload(name="annex-b.md", mimeType="text/markdown", buffer=b"Annex B. The fee is 40 euros.\n")
NOT_SENT = "Not sent: no connection to the server. Your words are kept here; try again when it is back."


def opened(page: Page, site: Site, me: str, name: str) -> int:
    (run,) = site.write("runs", me, name)
    page.goto(f"{site.url}/runs/{run}/")
    return int(run)


@pytest.mark.provokes("ERR_INTERNET_DISCONNECTED", "WebSocket", "Failed to fetch", "422")
def test_a_blocked_step_gets_its_file_and_goes_on(blank: Page, site: Site, me: str) -> None:
    page = blank
    run = opened(page, site, me, "blocked")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    asked = gate(page, "exhausted")
    field = asked.get_by_label("Give missing files")
    button = asked.get_by_role("button", name="Give and try again")
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        assert in_view(page, button)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        check_both_themes(page)
    answer = asked.locator(".give .form-answer")
    field.set_input_files(FilePayload(name="Service agreement.md", mimeType="text/plain", buffer=b""))
    page.context.set_offline(True)
    button.click()
    expect(answer).to_have_text(NOT_SENT)
    assert field.evaluate("input => input.files.length") == 1
    page.context.set_offline(False)
    field.set_input_files(FilePayload(name="review", mimeType="text/plain", buffer=b"x"))
    button.click()
    expect(answer).to_contain_text("cannot lie in one folder")
    dropped = """zone => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(["Annex B. The fee is 40 euros.\\n"], "annex-b.md"));
        zone.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: transfer}));
    }"""
    asked.locator(".drop-zone").evaluate(dropped)
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("article.gate[data-kind=exhausted]")).to_have_count(0)
    page.goto(f"{site.url}/runs/{run}/history/")
    expect(page.locator("main")).to_contain_text("gave annex-b.md; “Review the clauses” is tried again.")
    page.goto(f"{site.url}/runs/{run}/files/")
    expect(page.locator("main")).to_contain_text("annex-b.md")


def test_a_plan_that_names_a_missing_file_is_asked_about_again_with_it(blank: Page, site: Site, me: str) -> None:
    page = blank
    opened(page, site, me, "plan without a file")
    asked = gate(page, "plan")
    expect(asked.get_by_text("Missing file:")).to_be_visible()
    check_both_themes(page)
    asked.get_by_label("Give the missing file").set_input_files({**ANNEX, "name": "signed.md"})
    asked.get_by_label("Use this file as annex-b.md").check()
    asked.get_by_role("button", name="Give", exact=True).click()
    expect(page.locator(".give")).to_have_count(0)
    expect(gate(page, "plan")).to_contain_text("gave annex-b.md.")
    gate(page, "plan").get_by_role("button", name="Approve").click()
    expect(page.locator("article.gate[data-kind=plan]")).to_have_count(0)


def test_without_javascript_a_file_is_given_by_an_ordinary_form(plain: Page, site: Site, me: str) -> None:
    page = plain
    run = opened(page, site, me, "blocked")
    asked = gate(page, "exhausted")
    expect(asked.locator(".give-drop")).to_be_hidden()
    asked.get_by_label("Give missing files").set_input_files({**ANNEX, "name": "review"})
    asked.get_by_role("button", name="Give and try again").click()
    expect(page.locator(".give .form-answer")).to_contain_text("cannot lie in one folder")
    page.get_by_label("Give missing files").set_input_files(ANNEX)
    page.get_by_role("button", name="Give and try again").click()
    expect(page.locator("article.gate[data-kind=exhausted]")).to_have_count(0)
    page.goto(f"{site.url}/runs/{run}/history/")
    expect(page.locator("main")).to_contain_text("gave annex-b.md; “Review the clauses” is tried again.")
