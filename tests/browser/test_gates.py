"""Gates in a real browser: decided on one screen, by keyboard, and answered at the button whatever happens."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.accessible import check_both_themes
from tests.browser.site import Site, sign_in
from tests.browser.test_story import LONG, gate

MADE = [
    "plan of 4",
    "plan of 40",
    "second plan",
    "result of 4",
    "result of 40",
    "rows",
    "cited",
    "exhausted",
    "error",
    "step error",
    "blocked",
    "budget",
    "time limit",
]
SIZES = {"wide": (1280, 900), "phone": (390, 844)}
MOST_WORDS = 150


@pytest.fixture(scope="module")
def runs(site: Site, me: str) -> dict[str, int]:
    """The numbers of the made runs, by name."""
    return dict(zip(MADE, site.write("runs", me, *MADE), strict=True))


@pytest.fixture
def page(blank: Page) -> Page:
    """Each test opens the run that it is about."""
    return blank


def opened(page: Page, site: Site, run: int) -> Locator:
    page.goto(f"{site.url}/runs/{run}/")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    return page.locator("article.gate")


def in_view(page: Page, what: Locator) -> bool:
    box, size = what.bounding_box(), page.viewport_size
    assert box
    assert size
    right, bottom = box["x"] + box["width"], box["y"] + box["height"]
    return min(box["x"], box["y"]) >= 0 and right <= size["width"] and bottom <= size["height"]


@pytest.mark.parametrize("name", MADE)
def test_question_summary_and_buttons_are_on_the_first_screen(
    page: Page, site: Site, runs: Mapping[str, int], name: str
) -> None:
    asked = opened(page, site, runs[name])
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        check_first_screen(page, asked, name)
    if name in {"second plan", "result of 4"}:  # on a phone; the wide ones are in the walk of all pages
        check_both_themes(page)


def check_first_screen(page: Page, asked: Locator, name: str) -> None:
    assert in_view(page, asked.locator("h2"))
    assert in_view(page, asked.locator("button[value=approve]"))
    rejects = asked.locator("button[value=reject]")
    assert rejects.count() == int(name != "error"), "without a plan there is none to be changed"
    assert all(in_view(page, one) for one in rejects.all())
    assert all(in_view(page, one) for one in asked.locator("input[type=number]").all())
    lead = asked.locator(".gate-cause, .gate-lead, .gate-lines > li").first
    assert in_view(page, lead)
    summary = " ".join(asked.locator(".gate-cause, .gate-lead, .gate-lines").all_inner_texts())
    assert len(summary.split()) <= MOST_WORDS
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_first_steps_of_a_plan_are_on_the_first_screen_of_a_phone(planned: Page) -> None:
    page = planned
    page.set_viewport_size({"width": SIZES["phone"][0], "height": SIZES["phone"][1]})
    page.reload()
    bar = page.locator(".decide").bounding_box()
    first = page.locator(".gate-steps > li").first.bounding_box()
    assert bar
    assert first
    assert first["y"] + first["height"] <= bar["y"]
    assert in_view(page, page.get_by_role("button", name="Pause"))
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"][0]


def test_a_long_plan_names_its_first_and_last_steps_on_the_first_screen(
    page: Page, site: Site, runs: Mapping[str, int]
) -> None:
    asked = opened(page, site, runs["plan of 40"])
    lines = asked.locator(".gate-lines > li")
    stages = [lines.filter(has_text=re.compile(rf"^\s*{words}")) for words in ("First:", "Then,", "Last:")]
    expect(stages[1]).to_have_text(
        re.compile(r"Then,\s+38 steps in any order:\s+Step 2, Step 3,\s+35 more\s+and Step 39")
    )
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        assert all(in_view(page, stage) for stage in stages)


@pytest.mark.parametrize("name", ["result of 4", "result of 40"])
@pytest.mark.exhaustive
def test_no_sentence_of_a_report_stands_twice(page: Page, site: Site, runs: Mapping[str, int], name: str) -> None:
    asked = opened(page, site, runs[name])
    for fold in asked.locator("details.fold").all():
        fold.evaluate("fold => { fold.open = true; }")
    expect(asked.locator(".judgement").first).to_be_visible()
    names_no_date = re.compile(r"clause \d+ names no date")
    expect(page.locator("main")).to_contain_text(names_no_date)  # a fold is filled when it is opened
    text = page.locator("main").inner_text()
    points = names_no_date.findall(text)
    assert points
    assert len(points) == len(set(points))
    assert text.count("attention in 3 documents") == 1


def test_a_result_is_sent_back_and_accepted_by_keyboard_only(page: Page, site: Site, runs: Mapping[str, int]) -> None:
    asked = opened(page, site, runs["result of 4"])
    before = asked.get_attribute("id")
    asked.locator("h2").focus()
    page.keyboard.press("Tab")
    for _ in range(40):
        if page.evaluate("document.activeElement.matches('.decide textarea')"):
            break
        page.keyboard.press("Tab")
    page.keyboard.type("Name the clause.")
    style = "button => getComputedStyle(button).backgroundColor"
    filled, plain = (asked.locator(f"button[value={verb}]").evaluate(style) for verb in ("reject", "approve"))
    assert filled != plain, "with words in the field, the button that sends them is the filled one"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.value") == "reject"
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.keyboard.press("Enter")
    assert str(sent.value.post_data).count("opening") == 1, "when the page was opened"
    expect(page.locator(f"#{before}")).to_have_count(0, timeout=LONG)
    expect(page.locator(".run-decided")).to_contain_text("Name the clause.")


@pytest.mark.provokes("ERR_INTERNET", "htmx", "WebSocket")
def test_without_a_connection_nothing_typed_is_lost(page: Page, site: Site, runs: Mapping[str, int]) -> None:
    asked = opened(page, site, runs["plan of 4"])
    asked.locator("textarea").fill("Leave out the annex.")
    page.context.set_offline(True)
    asked.locator("button[value=reject]").click()
    expect(asked.locator(".form-answer")).to_contain_text("Not sent: no connection")
    page.context.set_offline(False)
    page.reload()
    expect(asked.locator("textarea")).to_have_value("Leave out the annex.")
    asked.locator("textarea").fill("")


@pytest.mark.exhaustive
@pytest.mark.provokes("401", "WebSocket", "403")
def test_signed_out_in_another_tab_the_way_back_leads_here(
    browser: Browser, site: Site, me: str, runs: Mapping[str, int]
) -> None:
    """In a session of its own: signing out ends it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, storage_state=site.account(me))
    page = context.new_page()
    asked = opened(page, site, runs["plan of 40"])
    asked.locator("textarea").fill("Ten steps at most.")
    context.clear_cookies(name="sessionid")
    asked.locator("button[value=reject]").click()
    expect(asked.locator(".form-answer")).to_contain_text("Not sent: you are signed out.")
    asked.get_by_role("link", name="Sign in again").click()
    sign_in(page, site.manage("people", "link", me, "--base", site.url).strip())
    expect(page).to_have_url(re.compile(rf"/runs/{runs['plan of 40']}/"))
    expect(asked.locator("textarea")).to_have_value("Ten steps at most.")
    context.close()


@pytest.mark.provokes("422")
def test_a_refusal_stands_at_the_button(page: Page, site: Site, runs: Mapping[str, int]) -> None:
    asked = opened(page, site, runs["result of 40"])
    asked.locator("summary", has_text="Points").click()
    asked.locator("input[name=back]").nth(1).check()
    asked.locator("button[value=approve]").click()
    expect(asked.locator(".form-answer")).to_contain_text("1 point is ticked to be sent back,")
    assert in_view(page, asked.locator(".form-answer"))
    expect(asked.locator("input[name=back]").nth(1)).to_be_checked()


def test_what_goes_back_is_said_at_the_decision(page: Page, site: Site, runs: Mapping[str, int]) -> None:
    asked = opened(page, site, runs["rows"])
    said, fold = asked.locator(".decide-points"), asked.locator("details", has_text="Points 3 and 60 table rows")
    fold.locator("summary").click()
    for number in (1, 2, 5):
        asked.locator(f"input[name=back][value='{number}']").check()
    words = "2 of 3 points and 1 of 60 table rows go back with “Request changes”."
    expect(said).to_contain_text(words)
    page.reload()
    expect(said).to_contain_text(words)
    expect(asked.locator("input[name=back]:visible")).to_have_count(0)
    said.get_by_role("button", name="Show them").click()
    expect(asked.locator("input[name=back][value='1']")).to_be_focused()
    said.get_by_role("button", name="Clear the ticks").click()
    expect(said).to_be_empty()
    expect(asked.locator("input[name=back]:checked")).to_have_count(0)
    page.reload()
    expect(said).to_be_empty()


@pytest.mark.exhaustive
def test_the_words_beside_a_point_have_room(page: Page, site: Site, runs: Mapping[str, int]) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    asked = opened(page, site, runs["cited"])
    asked.locator("summary", has_text="Points").click()
    note = asked.locator("[name=note-2]")
    expect(note).to_be_hidden()
    asked.locator("input[name=back][value='2']").check()
    before = note.bounding_box()
    note.fill("Name the clause that it is about, and say which of the two dates is the one that is missing. " * 3)
    after = note.bounding_box()
    assert before
    assert after
    assert (before["width"] > 250, after["height"] > 3 * before["height"]) == (True, True)
    check_both_themes(page)
    page.evaluate("['before', 'after'].forEach((when) => document.dispatchEvent(new Event(`pev:${when}-part`)))")
    expect(page.get_by_text("Your words were not sent")).to_have_count(0)
    page.evaluate("localStorage.clear()")


@pytest.mark.exhaustive
def test_next_goes_from_point_to_point(page: Page, site: Site, runs: Mapping[str, int]) -> None:
    """The source of a point and the quote in its text lead to one place: that is one reference."""
    asked = opened(page, site, runs["cited"])
    asked.locator("summary", has_text="Points").click()
    asked.get_by_role("link", name="line 23").click()
    count, text = page.locator(".source-count"), page.locator(".source-text mark")
    expect(text).to_contain_text("parking spaces TBD")
    here, every = count.inner_text().split(" of ")
    page.get_by_role("button", name="Next reference").click()
    expect(count).to_have_text(f"{int(here) + 1} of {every}")
    expect(page.locator(".source-panel")).to_contain_text("data-processing-agreement.md")


def test_on_paper_there_is_what_is_asked_without_what_only_a_screen_can_do(
    page: Page, site: Site, runs: Mapping[str, int]
) -> None:
    asked = opened(page, site, runs["exhausted"])
    page.emulate_media(media="print", color_scheme="dark")
    expect(asked.locator("h2")).to_be_visible()
    expect(asked.locator(".gate-lines").first).to_be_visible()
    expect(page.locator(".run-details .request-text")).to_be_visible()
    closed = ".gate-folds > .fold:not([open])"
    for gone in (".site-header", ".run-tabs", "#run-controls", ".run-menu", ".decide", ".run-details summary", closed):
        expect(page.locator(gone).first).to_be_hidden()
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert (ink, paper) == ("rgb(29, 33, 38)", "rgb(255, 255, 255)")
    page.emulate_media()


def test_request_without_words_is_said_before_it_is_sent(page: Page, site: Site, runs: Mapping[str, int]) -> None:
    asked = opened(page, site, runs["second plan"])
    asked.locator("button[value=reject]").click()
    words, said = asked.locator("textarea[name=reason]"), asked.locator("[data-problem]")
    expect(said).to_have_text("Say what should be different, or tick points to send back.")
    expect(words).to_be_focused()
    expect(words).to_have_accessible_description(re.compile("^Say what should be different"))
    check_both_themes(page)
    words.press_sequentially("B")
    expect(said).to_have_count(0)
    words.fill("")
    expect(gate(page, "plan")).to_be_visible()
