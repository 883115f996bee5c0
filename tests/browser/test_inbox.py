"""The lists of runs in a real browser: by keys, on a phone, without JavaScript, in the background."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, StorageState, expect

from tests.browser.accessible import check_accessible, check_both_themes
from tests.browser.conftest import heard, new_context
from tests.browser.site import Site

NOTES = """
window.notes = "";
class Notification {
  static get permission() { return sessionStorage.permission || "default"; }
  static async requestPermission() { return (sessionStorage.permission = "granted"); }
  constructor(title) { document.documentElement.dataset.notes = (window.notes += title); }
}
window.Notification = Notification;
document.hasFocus = () => false;
"""


@pytest.fixture(scope="module", autouse=True)
def runs(site: Site, me: str) -> None:
    """Five runs of this person's wait for them and three for a second person, four work, fifty-one are finished."""
    site.write("crowd", me, 63, 8, 4)


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.closest('tr')?.id || document.activeElement.id"))


def rows(page: Page) -> list[str]:
    return [str(row.get_attribute("id")) for row in page.locator(".runs tbody tr").all()]


def number_of(row: str) -> int:
    return int(row.removeprefix("run-"))


def test_a_list_is_walked_and_opened_by_keys(page: Page) -> None:
    ids = rows(page)
    assert len(ids) >= 5
    for key, place in (("j", 0), ("j", 1), ("j", 2), ("k", 1), ("k", 0), ("k", 0)):
        page.keyboard.press(key)
        assert focused(page) == ids[place]
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{ids[0].removeprefix('run-')}/#gate-*")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


@pytest.mark.exhaustive
def test_a_slash_leads_to_the_search_in_which_keys_are_letters(blank: Page, site: Site) -> None:
    page = blank
    page.goto(f"{site.url}/?show=all")
    page.keyboard.press("/")
    assert focused(page) == "search"
    page.keyboard.type("jk/")
    expect(page.locator("#search")).to_have_value("jk/")
    page.locator("#search").fill("review")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?show=all&q=review*")
    page.locator("#search").focus()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert focused(page) == rows(page)[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("size", "check"), [((1280, 900), check_both_themes), ((390, 844), check_accessible)])
def test_what_unfolds_on_a_list_is_accessible_and_fits(
    blank: Page, site: Site, size: tuple[int, int], check: Callable[[Page], None]
) -> None:
    page = blank
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{site.url}/?show=finished&page=2")  # with fewer rows, which are all alike
    page.locator("summary", has_text="Filter and sort").click()
    check(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.keyboard.press("Escape")
    page.locator(".run-menu > summary").nth(1).click()
    expect(page.get_by_role("button", name="Rename")).to_be_visible()
    check(page)
    page.get_by_role("link", name="Delete…").click()
    expect(page.get_by_role("button", name="Delete run")).to_be_visible()


def test_rows_are_dense(blank: Page, site: Site) -> None:
    page = blank
    page.goto(f"{site.url}/?show=all")
    heights = page.evaluate("[...document.querySelectorAll('.runs tbody tr')].map((row) => row.offsetHeight)")
    assert (len(heights), min(heights) >= 36, max(heights) <= 44) == (25, True, True)


@pytest.mark.exhaustive
def test_what_is_typed_into_a_menu_stays_while_the_list_is_kept_up_to_date(blank: Page, site: Site) -> None:
    page = blank
    page.goto(f"{site.url}/?show=running")
    row = page.locator(".runs tbody tr").first
    row.locator(".run-menu > summary").click()
    title = page.get_by_role("textbox", name="Title")
    title.fill("Contracts of May")
    site.write("rename", number_of(rows(page)[-1]), "Brand new")
    expect(page.locator(".runs")).to_contain_text("Brand new")
    expect(title).to_have_value("Contracts of May")
    page.get_by_role("button", name="Rename").click()
    expect(page.locator("#messages")).to_contain_text("is now called “Contracts of May”")
    page.wait_for_url("**/?show=running")
    expect(page.locator(".runs")).to_contain_text("Contracts of May")


@pytest.fixture
def clocked(browser: Browser, site: Site, signed_in: StorageState, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The inbox in a browser of its own whose clock the test moves: a clock is installed for all pages of a context."""
    context = new_context(browser, signed_in)
    with heard(context, site, request.node) as page:
        page.clock.install()
        page.goto(site.url)
        yield page
    context.close()


@pytest.mark.exhaustive
def test_a_page_that_nobody_looks_at_asks_nothing_and_then_whether_there_is_news(clocked: Page) -> None:
    page = clocked
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request) if request.resource_type == "fetch" else None)
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.clock.run_for(60_000)
    assert asked == []
    page.evaluate("Object.defineProperty(document, 'hidden', {value: false, configurable: true})")
    with page.expect_response(lambda response: response.status == 304):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert len(rows(page)) >= 5


@pytest.mark.exhaustive
def test_who_asks_for_notifications_gets_them_of_the_kinds_they_have_chosen(clocked: Page, site: Site, me: str) -> None:
    page, asked = clocked, list[str]()
    page.add_init_script(NOTES)
    page.on("request", lambda request: asked.append(request.url) if "/notices/new/" in request.url else None)
    page.reload()
    page.clock.run_for(30_000)
    button, notes = page.locator("[data-notify]"), page.locator("html")
    expect(button).to_have_text("Notify me")
    assert (asked, page.evaluate("Notification.permission")) == ([], "default")

    def come_round() -> None:
        with page.expect_response("**/account/notices/new/**") as answer:
            page.clock.run_for(30_000)
        answer.value.finished()

    with page.expect_response("**/account/notices/new/"):
        button.click()
    expect(button).to_have_text("Notifications on")
    expect(button).to_have_attribute("aria-pressed", "true")
    before = int(str(page.locator("[data-badge]").get_attribute("data-badge")))
    run = site.write("sample_at", me, "plan")
    come_round()
    title = site.write("title_of", run)
    expect(notes).to_have_attribute("data-notes", f"Needs your decision: {title}")
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("/waits"))
    expect(page).to_have_title(f"({before + 1}) Needs your decision · pevsite")
    page.goto(f"{site.url}/account/notices/")
    page.get_by_role("group", name="A run has ended").get_by_label("Browser").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#messages")).to_contain_text("Your choices are saved.")
    site.write("stop", run)
    other = site.write("sample_at", me, "plan")
    come_round()
    expect(notes).to_have_attribute("data-notes", f"Needs your decision: {site.write('title_of', other)}")
    page.locator("[data-notify]").click()
    expect(page.locator("[data-notify]")).to_have_text("Notify me")


@pytest.mark.exhaustive
def test_everything_works_without_javascript(plain: Page, site: Site) -> None:
    listed = plain.locator(".runs tbody tr")
    plain.goto(site.url)
    plain.get_by_role("link", name="Finished").click()
    expect(listed).to_have_count(25)
    plain.get_by_role("link", name="Next").click()
    plain.get_by_role("link", name="Next").click()
    expect(plain.get_by_role("link", name="Next")).to_have_count(0)
    assert 1 <= listed.count() <= 25
    plain.goto(site.url)
    plain.locator("#search").fill("review the")
    plain.keyboard.press("Enter")
    expect(plain.locator(".chip")).to_have_text(["“review the”: remove this filter"])
    plain.locator("summary", has_text="Filter and sort").click()
    plain.locator("#state").select_option("awaiting_approval")
    plain.get_by_role("button", name="Show").click()
    expect(plain.locator(".chip")).to_have_count(2)
    assert len(rows(plain)) >= 5
    plain.locator(".chip").first.click()
    expect(plain.locator(".chip")).to_have_text(["Plan needs a decision: remove this filter"])
    plain.goto(f"{site.url}/?show=finished")
    plain.locator(".run-menu > summary").first.click()
    plain.get_by_role("link", name="Rename, archive or delete").first.click()
    plain.get_by_role("button", name="Archive").click()
    expect(plain.locator("#messages")).to_contain_text("is archived")
    plain.goto(f"{site.url}/?show=finished&archived=1")
    expect(listed).to_have_count(1)


def test_equal_decisions_are_ticked_and_approved_together(blank: Page, site: Site) -> None:
    page = blank
    (session,) = site.account("bulk")["cookies"]
    page.context.add_cookies([{"name": session["name"], "value": session["value"], "url": site.url}])
    site.write("runs", "bulk", "plan of 4", "plan of 40", "plan of 4", "result of 4", "easy result", "easy result")
    page.goto(site.url)
    bar, ticks = page.locator("#together"), page.locator("input[name=gate]")
    expect(ticks).to_have_count(4)
    expect(bar.get_by_role("button")).to_be_disabled()
    plans = page.get_by_role("checkbox", name="Tick: Plan")
    plans.first.check()
    expect(page.get_by_role("checkbox", name="Tick: Result").first).to_be_disabled()
    expect(bar.get_by_role("status")).to_have_text("1 of 2 equal decisions ticked.")
    plans.last.check()
    expect(bar).to_contain_text("Each run carries out this plan with its own files.")
    check_both_themes(page)
    bar.get_by_role("button", name="Approve 2 decisions").click()
    expect(page.locator("#messages")).to_contain_text("2 decisions approved, each recorded by itself.")
    expect(ticks).to_have_count(2)


def test_what_is_said_of_ticked_decisions_follows_the_list(blank: Page, site: Site) -> None:
    page = blank
    (session,) = site.account("bulk-later")["cookies"]
    page.context.add_cookies([{"name": session["name"], "value": session["value"], "url": site.url}])
    plans = site.write("runs", "bulk-later", "plan of 4", "plan of 4", "easy result", "easy result", "easy result")[:2]
    page.goto(site.url)
    bar = page.locator("#together")
    expect(bar).to_contain_text("Each run carries out this plan with its own files. Each run keeps its own result")
    page.get_by_role("checkbox", name="Tick: Plan").first.check()
    site.write("stop", plans[0])
    expect(page.get_by_role("checkbox", name="Tick: Plan")).to_have_count(0, timeout=20_000)
    expect(bar.get_by_role("status")).to_have_text("")
    expect(bar.get_by_role("button")).to_be_disabled()
    expect(bar).not_to_contain_text("Each run carries out this plan")
    page.get_by_role("checkbox", name="Tick: Result").first.check()
    expect(bar.get_by_role("status")).to_have_text("1 of 3 equal decisions ticked.")
