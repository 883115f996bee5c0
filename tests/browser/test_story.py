"""The main job in a real browser: from a request, with files or a plan of one's own, to its decisions."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.accessible import check_accessible
from tests.browser.site import Site

LONG = 90_000


def gate(page: Page, kind: str):  # type: ignore[no-untyped-def]
    return page.locator(f"article.gate[data-kind={kind}]")


def try_the_samples(page: Page) -> None:
    page.get_by_role("link", name="Inbox").click()
    button = page.get_by_role("button", name="Try it: three sample contracts")
    if not button.count():
        page.get_by_role("link", name="New run").first.click()
    button.first.click()
    expect(gate(page, "plan")).to_be_visible(timeout=LONG)


def approve(page: Page, kind: str) -> None:
    gate(page, kind).locator("button[value=approve]").click()
    expect(gate(page, kind)).to_have_count(0, timeout=LONG)


def tab(page: Page, name: str) -> None:
    page.locator("#run-tabs").get_by_role("link", name=name).click()
    expect(page.locator("#run-tabs [aria-current=page]")).to_contain_text(name)


def beside(page: Page, name: str) -> Page:
    """A second page of the same browser, which shows this tab of the run."""
    other = page.context.new_page()
    every_line = "?show=calls" if name == "History" else ""
    other.goto(page.url.split("#")[0] + f"{name.lower()}/{every_line}")
    expect(other.locator("#live")).to_have_attribute("data-state", "live")
    return other


def numbers_in(history: Page) -> list[int]:
    """The numbers of the events that the page shows once it has caught up, sorted."""
    history.bring_to_front()  # what nobody looks at is not fetched
    newest = history.locator("#count-history").inner_text()
    expect(history.locator(f"#e{newest}")).to_be_attached(timeout=LONG)
    return sorted(map(int, history.locator(".history-tree .event-seq").all_inner_texts()))


def test_a_rejected_plan_comes_back_as_version_2(planned: Page) -> None:
    page = planned
    gate(page, "plan").locator("textarea").fill("Leave out contracts/Service agreement.docx.")
    gate(page, "plan").locator("button[value=reject]").click()
    expect(gate(page, "plan")).to_contain_text("version 2", timeout=LONG)
    expect(gate(page, "plan")).to_contain_text("Leave out contracts/Service agreement.docx.")


@pytest.mark.provokes("422")
def test_own_files_by_folder_and_what_cannot_be_done_without_a_model(page: Page, notes: Path) -> None:
    (notes / "photo.png").write_bytes(b"\0\0 no picture")
    (notes / ".env").write_text("PASSWORD=secret")
    page.get_by_role("link", name="New run").first.click()
    expect(page.locator("main")).to_contain_text("No model is connected.")
    expect(page.locator("option[value=idea-workflow]")).to_have_text("Idea workflow (needs a model)")
    expect(page.locator("option[value=idea-workflow]")).to_be_disabled()
    page.locator("textarea[name=request]").fill("Report the largest of these files")
    page.locator("input#id_folder").set_input_files(notes)
    expect(page.locator("#draft-files")).to_contain_text("old papers/Überblick.txt")
    expect(page.locator("#left-out")).to_contain_text("because they may contain secrets: notes/.env. To include one")
    expect(page.get_by_label("Plan", exact=True)).to_have_value("document-review")
    expect(page.locator("option", has_text="The planner writes it (needs a model)")).to_be_disabled()
    check_accessible(page)
    page.locator("#submit").click()
    expect(page.locator("#problems")).to_contain_text("“notes/photo.png” is neither a text nor a document")
    page.get_by_role("button", name="Remove notes/photo.png").click()
    expect(page.get_by_role("button", name="Remove notes/photo.png")).to_have_count(0)
    page.locator("#submit").click()
    expect(gate(page, "plan")).to_be_visible(timeout=LONG)
    tab(page, "Files")
    expect(page.get_by_role("link", name="old papers/Überblick.txt")).to_be_visible()
    tab(page, "History")
    expect(page.locator("#history-lines")).to_contain_text("Left out, because they may contain secrets: notes/.env.")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")  # a socket cut off while it opens complains


@pytest.mark.provokes("422")
@pytest.mark.exhaustive
def test_a_plan_is_imported_and_kept_as_a_template(page: Page, notes: Path) -> None:
    page.get_by_role("link", name="New run").first.click()
    page.locator("textarea[name=request]").fill("Review these notes")
    page.locator("input#id_folder").set_input_files(notes)
    page.locator("summary", has_text="a plan of your own").click()
    file = page.get_by_label("Or a plan as JSON")
    file.set_input_files({"name": "mine.json", "mimeType": "application/json", "buffer": b'{"goal": "x"}'})
    page.locator("#submit").click()
    expect(page.locator("#problems")).to_contain_text("“steps” is missing")
    file.set_input_files([])
    page.get_by_label("Plan", exact=True).select_option("document-review")
    page.locator("#submit").click()
    expect(gate(page, "plan")).to_contain_text("From the template “Document review”.", timeout=LONG)
    approve(page, "plan")
    expect(gate(page, "step")).to_be_visible(timeout=LONG)
    approve(page, "step")
    page.get_by_role("link", name="Save the plan as a template").click(timeout=LONG)
    check_accessible(page)
    page.get_by_label("Name").fill("Notes")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#messages")).to_contain_text("Saved as the template “Notes”.")
    check_accessible(page)


@pytest.mark.provokes("422")
def test_an_empty_request_and_missing_files_lose_nothing(page: Page, notes: Path) -> None:
    page.get_by_role("link", name="New run").first.click()
    request = page.locator("textarea[name=request]")
    request.fill("Review these contracts")
    page.get_by_role("button", name="Submit and make a plan").click()
    expect(page.locator("#question")).to_contain_text("You speak of “these contracts”, but no file is attached.")
    expect(request).to_have_value("Review these contracts")


def test_two_tabs_decide_one_gate(planned: Page, me: str) -> None:
    page = planned
    other = page.context.new_page()
    other.goto(page.url)
    other.route("**/ws/**", lambda route: route.abort())
    expect(gate(other, "plan")).to_be_visible()
    form = gate(other, "plan").locator("form.decide")
    action, digest = form.get_attribute("action"), form.locator("[name=digest]").input_value()
    approve(page, "plan")
    answered = other.evaluate(
        """async ([action, digest]) => {
            const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
            const body = new URLSearchParams({verb: "stop", digest, reason: "", csrfmiddlewaretoken: token});
            return (await fetch(action, {method: "POST", body})).text();
        }""",
        [action, digest],
    )
    assert f"Already decided: {me} approved" in answered


@pytest.mark.exhaustive
def test_a_run_of_the_command_line_is_followed_too(page: Page, site: Site, me: str) -> None:
    command = site.spawn("run", "--sample", "contracts", "--approve-all", "--user", me)
    assert command.stdout is not None
    number = next(found[1] for line in command.stdout if (found := re.match(r"Run (\d+):", line)))
    page.goto(f"{site.url}/runs/{number}/")
    expect(page.locator("#run-result")).to_contain_text("Succeeded", timeout=LONG, ignore_case=True)
    page.goto(f"{site.url}/runs/{number}/history/?show=calls")
    numbers = numbers_in(page)
    assert numbers == list(range(1, len(numbers) + 1))
    command.communicate(timeout=90)
    assert command.returncode == 0


def test_a_phone_never_scrolls_sideways(planned: Page) -> None:
    page = planned
    page.set_viewport_size({"width": 360, "height": 800})
    page.reload()
    links = page.locator(".site-nav a").all()
    assert [link.inner_text() for link in links if (link.bounding_box() or {"height": 99})["height"] > 44] == []
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.get_by_role("link", name="Inbox").click()


@pytest.mark.parametrize("script", ["**/js/run/run.js", "**/ext/hx-ws-4.min.js"])
@pytest.mark.exhaustive
def test_a_script_that_comes_late_misses_nothing(planned: Page, script: str) -> None:
    """htmx starts while later scripts are still on their way: the socket may not open unheard, or not at all."""

    def late(route: Route) -> None:
        time.sleep(0.7)
        route.continue_()

    planned.route(script, late)
    planned.reload()
    expect(planned.locator("#live")).to_have_attribute("data-state", "live", timeout=20_000)
