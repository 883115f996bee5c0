"""A call that acts outside, in a real browser: what is long or hidden keeps nothing else out of view."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_both_themes, check_fits
from tests.browser.site import Site

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
@pytest.mark.exhaustive
def test_400_lines_keep_neither_other_arguments_nor_the_buttons_out_of_view(
    page: Page, site: Site, me: str, width: int, height: int
) -> None:
    (number,) = site.write("runs", me, "long call")
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{site.url}/runs/{number}/")
    gate = page.locator('.gate[data-kind="tool"]')
    expect(gate.get_by_text("9,491 characters in 400 lines").first).to_be_visible()
    for text in ("Line 1 of the letter.", "Line 400 of the letter.", "ann@example.com"):
        expect(gate.get_by_text(text).first).to_be_visible()
    expect(gate.get_by_text("Line 200 of the letter.")).not_to_be_visible()
    gate.locator(".act-words").filter(visible=True).last.scroll_into_view_if_needed()  # not those asked about again
    for name in ("Send", "Don’t send"):
        expect(gate.get_by_role("button", name=name, exact=True)).to_be_in_viewport()
    check_fits(page)
    gate.locator(".act-text summary").click()
    expect(gate.get_by_text("Line 200 of the letter.")).to_be_visible()
    expect(gate.locator(".decide-buttons button").first).to_be_in_viewport()
    check_both_themes(page)


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_an_email_is_decided_on_one_screen_and_declined_by_one_click(
    page: Page, site: Site, me: str, width: int, height: int
) -> None:
    (number,) = site.write("runs", me, "mail")
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{site.url}/runs/{number}/")
    gate = page.locator('.gate[data-kind="tool"]')
    expect(gate.get_by_role("heading", name="Send this e-mail?")).to_be_in_viewport()
    for text in ("Cannot be undone", "office@example.com", "bob@example.com", "Reminder: invoice 5"):
        expect(gate.get_by_text(text).first).to_be_in_viewport()
    send, refuse = (gate.get_by_role("button", name=name, exact=True) for name in ("Send", "Don’t send"))
    expect(send).to_be_in_viewport()
    expect(refuse).to_be_in_viewport()
    looks = "one => ['backgroundColor', 'color', 'height', 'fontSize'].map((name) => getComputedStyle(one)[name])"
    assert send.evaluate(looks) == refuse.evaluate(looks), "the safe answer is never harder"
    expect(gate.get_by_text('"subject": "Reminder')).to_have_count(0)
    check_fits(page)
    check_both_themes(page)
    gate.locator("summary", has_text="Technical details").click()
    expect(gate.get_by_text('"subject": "Reminder')).to_be_visible()
    refuse.click()
    expect(page.locator(".run-decided")).to_contain_text("decided against sending an e-mail")


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_a_payment_says_amount_and_account_again_before_it_is_made(
    page: Page, site: Site, me: str, width: int, height: int
) -> None:
    (number,) = site.write("runs", me, "payment")
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{site.url}/runs/{number}/")
    gate = page.locator('.gate[data-kind="tool"]')
    pay, again = (gate.get_by_role("button", name=name, exact=True) for name in ("Pay", "Pay now"))
    expect(again).to_have_count(0)
    pay.click()
    dialog = gate.get_by_role("dialog", name="Make this payment?")
    for text in ("1,200.50", "DE02 1203 0000 0000 2020 51", "Cannot be undone"):
        expect(dialog.get_by_text(text)).to_be_in_viewport()
    expect(dialog.get_by_role("button", name="Back")).to_be_focused()
    check_both_themes(page)
    dialog.get_by_role("button", name="Back").click()
    expect(dialog).to_have_count(0)
    pay.click()
    again.click()
    expect(page.locator(".run-decided")).to_contain_text("approved making a payment")


def test_the_end_of_a_long_text_is_one_click_away(page: Page, site: Site, me: str) -> None:
    (number,) = site.write("runs", me, "long call")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site.url}/runs/{number}/")
    page.get_by_role("link", name="To the end of “Text”").click()
    expect(page.get_by_text("Line 400 of the letter.")).to_be_in_viewport()


def test_signs_are_seen_and_not_copied(page: Page, site: Site, me: str) -> None:
    (number,) = site.write("runs", me, "long call")
    page.goto(f"{site.url}/runs/{number}/")
    value = page.locator(".act-words", has_text="Invoice")
    expect(value.get_by_text("U+202E")).to_be_visible()
    copied = value.evaluate("one => { getSelection().selectAllChildren(one); return getSelection().toString(); }")
    assert copied == "Invoice \u202e05"
    persian = page.locator(".act-words", has_text="خواهم")
    expect(persian.locator(".odd")).to_have_count(0)
