"""Every form of the product: without a connection nothing is lost, and answers stand at the button."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_both_themes
from tests.browser.site import Site

OFFLINE = "ERR_INTERNET_DISCONNECTED"
NOT_SENT = "Not sent: no connection to the server. Your words are kept here; try again when it is back."


@pytest.mark.provokes(OFFLINE, "WebSocket", "Failed to fetch")
def test_stop_and_pause_say_at_the_button_that_there_is_no_connection(planned: Page) -> None:
    page = planned
    page.context.set_offline(True)
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".run-header .form-answer")).to_have_text(NOT_SENT)
    page.locator(".run-menu > summary").click()
    page.get_by_role("button", name="Stop the run…", exact=True).first.click()
    page.fill("#stop-reason", "The wrong folder.")
    page.get_by_role("button", name="Stop the run", exact=True).click()
    expect(page.locator("#stop-run .form-answer")).to_have_text(NOT_SENT)
    expect(page.locator("#stop-reason")).to_have_value("The wrong folder.")
    check_both_themes(page)
    page.context.set_offline(False)
    page.get_by_role("button", name="Stop the run", exact=True).click()
    expect(page.locator("#run-result")).to_contain_text("Stopped")


@pytest.mark.provokes(OFFLINE, "422")
def test_any_other_form_does_the_same_and_shows_what_was_refused(blank: Page, site: Site, me: str) -> None:
    page = blank
    run = site.write("sample", me)
    page.goto(f"{site.url}/runs/{run}/manage/")
    page.fill("#title-" + str(run), "Three contracts of October")
    page.context.set_offline(True)
    page.get_by_role("button", name="Rename").click()
    expect(page.locator(".form-answer").first).to_have_text(NOT_SENT)
    expect(page.locator("#title-" + str(run))).to_have_value("Three contracts of October")
    page.context.set_offline(False)
    page.evaluate("id => delete document.getElementById(id).dataset.maxLength", "title-" + str(run))
    page.fill("#title-" + str(run), "x" * 121)
    page.get_by_role("button", name="Rename").click()
    expect(page.locator(".alert.bad")).to_contain_text("Not done.")
    expect(page.locator(".alert.bad")).to_be_focused()
    page.fill("#title-" + str(run), "Three contracts of October")
    page.get_by_role("button", name="Rename").click()
    expect(page.locator("#messages")).to_contain_text("Three contracts of October")


@pytest.mark.provokes("401", "403")
def test_whoever_is_signed_out_keeps_the_words_and_is_shown_the_way_back(blank: Page, site: Site, me: str) -> None:
    page = blank
    run = site.write("sample", me)
    page.goto(f"{site.url}/runs/{run}/template/")
    page.get_by_label("Name").fill("Our contracts")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Save").first.click()
    expect(page.locator(".form-answer")).to_contain_text("Not sent: you are signed out.")
    expect(page.get_by_label("Name")).to_have_value("Our contracts")
    expect(page.get_by_role("link", name="Sign in again")).to_be_visible()


@pytest.mark.provokes("403")
def test_the_reason_of_the_server_stands_at_the_button(blank: Page, site: Site, me: str) -> None:
    page = blank
    run = site.write("sample", me)
    page.goto(f"{site.url}/runs/{run}/manage/")
    page.fill("#title-" + str(run), "Three contracts")
    page.evaluate("document.body.removeAttribute('hx-headers:inherited')")
    page.evaluate("for (const one of document.querySelectorAll('[name=csrfmiddlewaretoken]')) one.value = 'old'")
    page.get_by_role("button", name="Rename").click()
    expect(page.locator(".form-answer").first).to_have_text(
        "Not done. The form could not be confirmed as yours, usually because you have signed in again since the "
        "page was loaded. Nothing was changed. Go back, reload the page and try again. Your words are kept here."
    )
    expect(page.locator("#title-" + str(run))).to_have_value("Three contracts")


@pytest.mark.provokes("418")
def test_an_answer_that_cannot_be_shown_is_said_at_the_button(blank: Page, site: Site, me: str) -> None:
    page = blank
    run = site.write("sample", me)
    page.goto(f"{site.url}/runs/{run}/manage/")
    rename, said = page.get_by_role("button", name="Rename"), page.locator(".form-answer").first
    page.route("**/manage/", lambda route: route.fulfill(status=418, body="A teapot.", content_type="text/plain"))
    rename.click()
    expect(said).to_have_text("Not done: the server refused it (418). Your words are kept here.")
    page.unroute("**/manage/")
    page.route("**/manage/", lambda route: route.fulfill(status=200, body="Fine.", content_type="text/plain"))
    rename.click()
    expect(said).to_contain_text("The answer of the server cannot be shown here.")


@pytest.mark.provokes("403")
def test_a_decision_that_one_may_not_make_says_why(blank: Page, site: Site, me: str) -> None:
    page = blank
    (run,) = site.write("runs", me, "second person")
    page.goto(f"{site.url}/runs/{run}/")
    approve = page.locator("button[value=approve]")
    expect(approve).to_be_disabled()
    approve.evaluate("button => { button.disabled = false; }")
    approve.click()
    expect(page.locator("form.decide .form-answer")).to_contain_text("Not done. A second person has to approve this")


def test_a_form_that_is_sent_twice_at_once_is_sent_once(blank: Page, site: Site) -> None:
    page = blank
    page.goto(f"{site.url}/runs/new/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    button = page.get_by_role("button", name="Try it: three sample contracts")
    button.evaluate("button => { button.click(); button.click(); }")
    expect(page.locator("#live")).to_be_attached()
    assert len(sent) == 1


@pytest.mark.provokes("422")
def test_what_was_wrong_with_a_field_goes_when_it_is_changed(blank: Page, site: Site) -> None:
    page = blank
    (session,) = site.account("forms-root", administrator=True)["cookies"]
    page.context.add_cookies([{"name": "sessionid", "value": session["value"], "url": site.url}])
    page.goto(f"{site.url}/agents/new/")
    page.get_by_label("What it is for").fill("Writes letters.")
    page.locator("main form button").last.click()
    error = page.locator(".field-error", has_text="Give the agent a name.")
    expect(error).to_be_visible()
    expect(page.get_by_label("What it is for")).to_have_value("Writes letters.")
    page.get_by_label("Name", exact=True).fill("writer")
    expect(error).to_have_count(0)
    expect(page.locator(".field-error", has_text="Write the instructions.")).to_be_visible()
