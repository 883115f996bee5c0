"""A page that was watched is the page that one finds later; it survives a cut line, and ends with the session."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, expect

from tests.browser.conftest import ARRIVALS, on_a_sample
from tests.browser.site import Site
from tests.browser.test_story import LONG, approve, gate, numbers_in, tab, try_the_samples

TEXT = """() => {
    const main = document.getElementById("main").cloneNode(true);
    const passing = "time, [data-clock], #live, [data-writing], #messages, .arrivals, noscript, script,"
        + "#stop-run, [popovertarget=stop-run], [id$='-body']";
    for (const part of main.querySelectorAll(passing)) part.remove();
    return main.textContent.replace(/\\s+/g, " ").trim();
}"""
SHIFTS = """
    window.shifted = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
"""
MAX_SHIFT = 0.1


def become(page: Page, site: Site, name: str) -> None:
    """Somebody new, of whom nothing can be reused."""
    (session,) = site.account(name)["cookies"]
    page.context.add_cookies([{"name": session["name"], "value": session["value"], "url": site.url}])
    page.goto(site.url)


def same_as_fresh(watched: Page) -> None:
    """The words of this page are those of one that is opened now."""
    watched.bring_to_front()
    fresh = watched.context.new_page()
    fresh.goto(watched.url)
    words = fresh.evaluate(TEXT)
    fresh.close()
    watched.bring_to_front()
    for _ in range(800):
        expect(watched.locator("main")).to_be_visible()  # what waits behind a bar is asked for
        if watched.evaluate(TEXT) == words:
            return
        watched.wait_for_timeout(50)
    assert watched.evaluate(TEXT) == words


def check_downloads(page: Page) -> None:
    for name, begins in (("Report as Markdown", b"# "), ("All files (.zip)", b"PK")):
        page.locator("#run-result details.menu").evaluate("menu => { menu.open = true; }")
        with page.expect_download() as download:
            page.locator("#run-result").get_by_role("link", name=name).click()
        assert Path(download.value.path()).read_bytes().startswith(begins)


@pytest.mark.exhaustive
def test_from_the_sample_to_the_report_each_watched_page_is_the_page_that_is_opened_late(page: Page) -> None:
    expect(page.get_by_text("Offline rules, no AI").first).to_be_visible()
    try_the_samples(page)
    page.evaluate("window.neverReloaded = true")
    expect(gate(page, "plan")).to_contain_text("findings")
    run = page.url.split("#")[0]
    watched = {}
    for tab_of_run in ("", "plan/", "steps/", "files/", "history/", "history/?show=calls", "cost/"):
        other = watched[tab_of_run] = page.context.new_page()
        other.set_viewport_size({"width": 1280, "height": 6_000})  # what is not on the screen is not fetched
        other.goto(run + tab_of_run)
        expect(other.locator("#live")).to_have_attribute("data-state", "live")
    report = page.context.new_page()
    report.goto(run + "report/")
    expect(report.locator("#live")).to_have_attribute("data-state", "live")
    page.bring_to_front()
    approve(page, "plan")
    watched["steps/"].bring_to_front()  # what nobody looks at is not fetched
    expect(watched["steps/"].locator("#run-steps .told").first).to_contain_text("has no recommendation", timeout=LONG)
    page.bring_to_front()
    expect(gate(page, "step")).to_be_visible(timeout=LONG)
    expect(gate(page, "step")).to_contain_text("review/findings.md")
    assert page.title().startswith("Needs a decision · ")
    assert "/icons/waits." in (page.locator("link[rel=icon]").get_attribute("href") or "")
    for one in watched.values():
        same_as_fresh(one)
    page.bring_to_front()
    approve(page, "step")
    expect(page.locator("#run-result")).to_contain_text("succeeded", timeout=LONG, ignore_case=True)
    assert page.evaluate("window.neverReloaded"), "the page followed live"
    assert "/icons/good." in (page.locator("link[rel=icon]").get_attribute("href") or "")
    expect(report).to_have_title(re.compile("^Succeeded · .+ · Report · pevsite$"))
    for one in watched.values():
        same_as_fresh(one)
    every_line = watched["history/?show=calls"]
    expect(every_line.locator("#run-state")).to_contain_text("succeeded")
    numbers = numbers_in(every_line)
    assert numbers == list(range(1, len(numbers) + 1)), "every event exactly once, in order"
    page.bring_to_front()
    check_downloads(page)
    for name in ("Plan", "Steps", "Files", "History", "Cost"):
        tab(page, name)
    page.locator("#run-controls").get_by_role("link", name="Report").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.locator("a[href*='start=']").first.click()
    expect(page.locator("dialog mark").first).to_be_visible()


def plan_with_news(page: Page) -> Page:
    """The page of a plan on which somebody writes while the plan is approved in another tab."""
    plan = page.context.new_page()
    plan.goto(page.url.split("#")[0] + "plan/")
    expect(plan.locator("#live")).to_have_attribute("data-state", "live")
    plan.locator("#plan-reason").fill("Name the severity.")
    page.bring_to_front()
    approve(page, "plan")
    plan.bring_to_front()
    expect(plan.locator("#run-held")).to_contain_text("The plan has changed", timeout=LONG)
    return plan


def test_a_plan_that_somebody_writes_on_stays_and_says_that_there_is_news(planned: Page) -> None:
    plan = plan_with_news(planned)
    assert plan.locator("#plan-reason").input_value() == "Name the severity."
    plan.get_by_role("button", name="Show it").click()
    expect(plan.locator(".plan-head")).to_contain_text("approved by")
    expect(plan.locator("#run-held")).to_be_hidden()
    expect(plan.locator("blockquote")).to_have_text("Name the severity.")


def test_news_that_is_being_fetched_is_shown_to_a_person_who_asks_for_it(planned: Page) -> None:
    plan = plan_with_news(planned)
    fetches: list[Route] = []
    plan.route("**/plan/?part=plan", lambda fetch: fetches.append(fetch), times=1)
    with plan.expect_request("**/plan/?part=plan"):
        plan.evaluate(
            "document.dispatchEvent(new CustomEvent('htmx:after:ws:message', "
            "{detail: {message: {json: {changed: ['plan']}}}}))"
        )
    plan.get_by_role("button", name="Show it").click()
    fetches.pop().continue_()
    expect(plan.locator(".plan-head")).to_contain_text("approved by")


@pytest.mark.provokes("WebSocket")
def test_a_line_that_was_cut_loses_nothing(planned: Page) -> None:
    page = planned
    line = Line(page)
    page.goto(page.url.split("#")[0] + "history/?show=calls")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.evaluate("window.neverReloaded = true")
    line.cut()
    expect(page.locator("#live")).to_have_text("reconnecting…")
    other = page.context.new_page()
    other.goto(page.url.split("history/")[0])
    approve(other, "plan")
    expect(gate(other, "step")).to_be_visible(timeout=LONG)
    newest = other.locator("#count-history").inner_text()
    line.mend()
    page.bring_to_front()
    expect(page.locator("#count-history")).to_have_text(newest, timeout=LONG)
    expect(page.locator("#live")).to_have_text("Live")
    assert numbers_in(page) == list(range(1, int(newest) + 1)), "every line, once"
    assert page.evaluate("window.neverReloaded")


class Line:
    """The line of a page's socket, to be cut and mended."""

    def __init__(self, page: Page) -> None:
        self._open: list[WebSocketRoute] = []
        self._is_cut = False
        page.route_web_socket(re.compile("/ws/"), self._opened)

    def _opened(self, socket: WebSocketRoute) -> None:
        if self._is_cut:
            socket.close(code=4000)
            return
        socket.connect_to_server()
        self._open.append(socket)

    def cut(self) -> None:
        self._is_cut = True
        for socket in self._open:
            socket.close(code=4000)

    def mend(self) -> None:
        self._is_cut = False


def test_signing_out_in_another_tab_ends_the_page(browser: Browser, site: Site, me: str) -> None:
    context = browser.new_context(storage_state=site.account(me))
    watching = on_a_sample(context.new_page(), site, me, "plan")
    expect(watching.get_by_text("Review these three contracts").first).to_be_visible()
    elsewhere = context.new_page()
    elsewhere.goto(site.url)
    elsewhere.locator(".site-user summary").click()
    elsewhere.get_by_role("button", name="Sign out").click()
    expect(watching.get_by_text("Review these three contracts")).to_have_count(0)
    context.close()


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=["wide", "phone"])
@pytest.mark.exhaustive
def test_nothing_moves_while_steps_are_carried_out_and_questions_open(
    blank: Page, site: Site, size: tuple[int, int]
) -> None:
    page = blank
    become(page, site, f"onlooker-{size[0]}")
    page.remove_locator_handler(page.locator(ARRIVALS))
    page.add_init_script(SHIFTS)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    try_the_samples(page)
    page.wait_for_timeout(300)
    assert page.evaluate("window.shifted") < MAX_SHIFT, "the plan's question took the place of what was there"
    approve(page, "plan")
    page.mouse.wheel(0, 1)  # who reads on is not interrupted
    page.wait_for_timeout(1_500)  # the answer to a click may move what it likes
    page.evaluate("window.shifted = 0")
    for kind, words in (("step", "Needs a decision: Accept “"), ("", "The run has ended: Succeeded")):
        expect(page.locator(ARRIVALS)).to_be_visible(timeout=LONG)
        expect(page.locator(".arrivals")).to_contain_text(words)
        expect(page.locator(".run-tab article")).to_have_count(0)
        assert page.evaluate("window.shifted") < MAX_SHIFT
        expect(page.locator(".run-tab > .writing")).to_be_hidden()
        news = page.locator(".run-question") if kind and size[0] == 1280 else page.locator(ARRIVALS)
        news.click()
        expect(page.locator(".run-tab article h2")).to_be_focused()
        expect(page.locator(ARRIVALS)).to_be_hidden()
        if kind:
            approve(page, kind)
            page.mouse.wheel(0, 1)
            page.wait_for_timeout(1_500)
            page.evaluate("window.shifted = 0")


def test_after_a_decision_the_next_question_comes_where_one_looks(blank: Page, site: Site) -> None:
    page = blank
    become(page, site, "patient")
    on_a_sample(page, site, "patient", "plan")
    page.remove_locator_handler(page.locator(ARRIVALS))
    approve(page, "plan")
    expect(gate(page, "step").locator("h2")).to_be_focused(timeout=LONG)
    expect(page.locator(ARRIVALS)).to_be_hidden()
    expect(page.locator("#run-gates [data-person]").last).to_have_text("You")
    expect(page.locator(".run-below")).to_have_text("1 decision below")
    expect(page.locator(".run-question")).to_be_hidden()
    expect(gate(page, "step").locator("h2")).to_be_in_viewport()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    second = "button => button.dispatchEvent(new MouseEvent('click', {detail: 2, bubbles: true, cancelable: true}))"
    gate(page, "step").locator("button[value=approve]").evaluate(second)
    assert sent == [], "the second half of a double click decides nothing"
    approve(page, "step")
    expect(page.locator("#run-result")).to_contain_text("Succeeded", timeout=LONG)
    expect(page.locator(ARRIVALS)).to_be_hidden()


@pytest.mark.provokes("ERR_FAILED")
@pytest.mark.exhaustive
def test_a_part_that_could_not_be_fetched_is_fetched_again(blank: Page, site: Site) -> None:
    page = blank
    become(page, site, "unlucky")
    on_a_sample(page, site, "unlucky", "plan")
    approve(page, "plan")
    expect(page).not_to_have_title(re.compile("^Needs a decision"))
    page.route(re.compile("part="), lambda route: route.abort())
    expect(page).to_have_title(re.compile("^Needs a decision"), timeout=LONG)
    page.wait_for_timeout(500)  # the last event before the run waits for a person has been told
    page.unroute_all()
    expect(gate(page, "step")).to_be_visible(timeout=LONG)
