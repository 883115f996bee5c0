"""The plan in a real browser: edited and approved, commented on step by step, with a keyboard, without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.accessible import check_accessible
from tests.browser.site import Site
from tests.browser.test_story import LONG, gate

SLOWLY = """() => {
  const ask = window.fetch;
  window.fetch = async (...all) => { await new Promise((done) => setTimeout(done, 800)); return ask(...all); };
}"""
# Who leaves a page at once closes its socket before it is open; a button that is pressed before the answer to another
# one is there takes its place.
pytestmark = pytest.mark.provokes("signal is aborted")


@pytest.fixture
def page(blank: Page, site: Site, me: str) -> Page:
    """On the plan of a new run of the sample, which needs a decision."""
    blank.goto(f"{site.url}/runs/{site.write('sample_at', me, 'plan')}/plan/")
    expect(blank.get_by_role("heading", name="Version 1")).to_be_visible()
    return blank


@pytest.fixture(scope="module")
def unchanged(site: Site, me: str) -> str:
    """The plan of a run in which nothing is saved."""
    return f"{site.url}/runs/{site.write('sample_at', me, 'plan')}/plan/"


@pytest.fixture
def editor(blank: Page, unchanged: str) -> Page:
    """Of this plan."""
    blank.goto(unchanged)
    edit(blank)
    return blank


def edit(page: Page) -> None:
    page.locator(".plan-head").get_by_role("link", name="Edit").click()
    expect(page.get_by_role("heading", name="Edit version 1")).to_be_visible()
    page.wait_for_load_state()  # without its scripts a button loads the page again


def test_a_plan_is_edited_and_approved(page: Page) -> None:
    edit(page)
    page.evaluate("window.neverReloaded = true")
    page.get_by_role("button", name="Edit step 1").click()
    name = page.locator("#steps-0").get_by_label("Name", exact=True)
    expect(name).to_be_visible()
    name.fill("Read all of the contracts")
    rows = page.locator("#steps-0 .edit-criterion")
    count = rows.count()
    page.locator("#steps-0").get_by_role("button", name="Add a criterion").click()
    expect(rows).to_have_count(count + 1)
    added = rows.last
    added.get_by_label("What has to hold").fill("The findings have a heading.")
    added.get_by_label("Decided by").select_option(label="Automatic: a pattern occurs in a file")
    expect(added.get_by_label("Pattern")).to_be_visible()
    added.get_by_label("File").fill("review/findings.md")
    added.get_by_label("Pattern").fill("^# ")
    added.get_by_label("Proof must come from").select_option("output")
    added.get_by_role("button", name="Test now").click()
    expect(added.locator(".edit-preview")).to_contain_text("review/findings.md does not exist yet")
    check_accessible(page)
    assert page.evaluate("window.neverReloaded"), "the rows changed in place"
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_role("heading", name="Version 2")).to_be_visible()
    expect(page.locator("main")).to_have_count(1)
    changes = page.locator(".plan-changes")
    expect(changes.locator("ins").first).to_contain_text("Read all of the contracts")
    expect(changes).to_contain_text("The findings have a heading.")
    page.locator(".plan-bar").get_by_role("button", name="Approve").click()
    expect(gate(page, "plan")).to_have_count(0, timeout=LONG)


@pytest.mark.provokes("422")
def test_an_edit_that_cannot_be_saved_survives_a_reload(editor: Page) -> None:
    page = editor
    page.get_by_role("button", name="Edit step 1").click()
    page.locator("#steps-0").get_by_label("Name", exact=True).fill("")
    page.locator("#steps-0").get_by_label("Task", exact=True).fill("Typed, and not saved.")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_role("alert")).to_contain_text("Not saved: correct 1 problem first.")
    expect(page.locator("#id_steps-0-name_error")).to_have_text("Must not be empty.")
    expect(page.locator("#editor-kept")).to_have_text("Kept in this browser until you save.")
    page.goto(page.url)
    page.get_by_role("button", name="Continue with them").click()
    expect(page.locator("#steps-0").get_by_label("Task", exact=True)).to_have_value("Typed, and not saved.")


@pytest.mark.provokes("422")
def test_an_error_goes_when_its_field_is_changed(editor: Page) -> None:
    page = editor
    page.get_by_role("button", name="Edit step 1").click()
    name = page.locator("#steps-0").get_by_label("Name", exact=True)
    name.fill("")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.locator("#id_steps-0-name_error")).to_have_text("Must not be empty.")
    name.fill("A name")
    expect(page.locator("#id_steps-0-name_error")).to_have_count(0)
    assert name.get_attribute("aria-invalid") is None
    assert name.get_attribute("aria-describedby") is None
    assert page.locator("#plan-editor").evaluate("form => form.noValidate"), "no bubbles of the browser next to ours"


def test_a_new_step_comes_after_the_last_one(editor: Page) -> None:
    page = editor
    stages = page.locator(".edit-step .edit-stage")
    last = stages.all_text_contents()[-1]
    title = page.locator(".edit-step h3").last.text_content() or ""
    page.get_by_role("button", name="Add a step").click()
    added = page.locator(".edit-step").last
    expect(added.get_by_role("heading")).to_have_text("New step")
    assert added.get_by_role("checkbox", name=title, exact=True).is_checked()
    expect(stages.last).to_have_text(f"stage {int(last.removeprefix('stage ')) + 1}")


def test_what_was_removed_is_restored_in_its_place(editor: Page) -> None:
    page = editor
    page.get_by_role("button", name="Edit step 1").click()
    first = page.locator("#steps-0")
    criteria = first.locator(".edit-criterion")
    expect(criteria.first).to_be_visible()
    texts = [box.input_value() for box in criteria.get_by_label("What has to hold").all()]
    criteria.first.get_by_label("What has to hold").fill("Typed before it was removed")
    first.get_by_role("button", name="Remove criterion 1").click()
    expect(criteria).to_have_count(len(texts) - 1)
    undo = first.get_by_role("button", name="Undo removing Typed before it was removed")
    check_accessible(page)
    undo.click()
    expect(criteria).to_have_count(len(texts))
    expect(criteria.first.get_by_label("What has to hold")).to_have_value("Typed before it was removed")
    titles = page.locator(".edit-step h3").all_text_contents()
    page.get_by_role("button", name="Remove step 2").click()
    expect(page.locator(".edit-step h3")).to_have_count(len(titles) - 1)
    page.get_by_role("button", name=f"Undo removing {titles[1]}").click()
    expect(page.locator(".edit-step h3")).to_have_text(titles)


@pytest.mark.exhaustive
def test_what_is_typed_while_the_answer_is_on_its_way_stays(editor: Page) -> None:
    page = editor
    page.get_by_role("button", name="Edit step 1").click()
    task = page.locator("#steps-0").get_by_label("Task", exact=True)
    expect(task).to_be_visible()
    page.evaluate(SLOWLY)
    page.locator("#steps-0").get_by_role("button", name="Add a criterion").click()
    task.fill("Typed meanwhile.")
    expect(page.locator("#steps-0 .edit-criterion").last.get_by_label("What has to hold")).to_have_value("")
    expect(task).to_have_value("Typed meanwhile.")


@pytest.mark.exhaustive
def test_rows_that_move_take_everything_with_them(editor: Page) -> None:
    """Ticks and choices too, which browsers do not change with the markup once somebody has touched them."""
    page = editor
    page.get_by_role("button", name="Edit step 1").click()
    page.get_by_role("button", name="Edit step 2").click()
    first, second = page.locator(".edit-step").nth(0), page.locator(".edit-step").nth(1)
    second.get_by_label("Risk").select_option("high")
    ticked = second.get_by_role("checkbox").first
    ticked.uncheck() if ticked.is_checked() else ticked.check()
    was = [box.is_checked() for box in second.get_by_role("checkbox").all()]
    name = second.get_by_label("Name", exact=True).input_value()
    page.get_by_role("button", name="Move step 2 up").click()
    expect(first.get_by_label("Name", exact=True)).to_have_value(name)
    expect(first.get_by_label("Risk")).to_have_value("high")
    assert [box.is_checked() for box in first.get_by_role("checkbox").all()] == was


def test_changes_are_requested_step_by_step(page: Page) -> None:
    first = page.locator("#step-1")
    first.locator("summary").first.click()
    first.get_by_text("Comment on step 1", exact=True).click()
    first.get_by_label("Comment on step 1", exact=True).fill("Leave out contracts/Service agreement.docx.")
    first.get_by_text("Comment on criterion 1 of step 1").click()
    first.get_by_label("Comment on criterion 1 of step 1").fill("Say where it stands.")
    expect(page.locator("#comments-count")).to_have_text("2 comments to send")
    page.reload()
    expect(first.get_by_label("Comment on step 1", exact=True)).to_have_value(re.compile("Leave out"))
    page.locator(".plan-bar").get_by_role("button", name="Request changes").click()
    expect(gate(page, "plan")).to_be_visible(timeout=LONG)
    page.get_by_role("navigation", name="Run").get_by_role("link", name="Plan").click()
    expect(page.get_by_role("heading", name="Version 2")).to_be_visible(timeout=LONG)
    asked = page.locator(".plan-changes")
    expect(asked).to_contain_text("Leave out contracts/Service agreement.docx.")
    expect(asked).to_contain_text(re.compile("On step 1 “.*”, criterion 1"))


def test_a_plan_is_edited_with_the_keyboard_alone(editor: Page) -> None:
    page = editor
    page.get_by_role("button", name="Add a step").press("Enter")
    added = page.locator(".edit-step").last
    expect(added.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.type("Count the pages")
    page.keyboard.press("Enter")
    expect(added.get_by_role("heading")).to_have_text("Count the pages")


@pytest.mark.exhaustive
def test_a_plan_is_edited_on_a_phone_without_javascript(browser: Browser, page: Page, site: Site) -> None:
    where = page.url
    kept: StorageState = page.context.storage_state()
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, storage_state=kept, java_script_enabled=False, color_scheme="dark"
    )
    plain = context.new_page()
    plain.goto(f"{where}edit/")
    plain.get_by_role("button", name="Edit step 1").click()
    plain.locator("#steps-0").get_by_label("Name", exact=True).fill("Without a script")
    plain.get_by_role("button", name="Duplicate step 1").click()
    copy = plain.locator(".edit-step").nth(1)
    expect(copy.get_by_label("Name", exact=True)).to_have_value("Without a script (copy)")
    plain.get_by_role("button", name="Remove step 2").click()
    plain.get_by_role("button", name="Undo removing Without a script (copy)").click()
    expect(copy.get_by_label("Name", exact=True)).to_have_value("Without a script (copy)")
    plain.get_by_role("button", name="Remove step 2").click()
    expect(plain.get_by_text("Removed: Without a script (copy)")).to_be_visible()
    plain.get_by_role("button", name="Save as a new version").click()
    expect(plain.get_by_role("heading", name="Version 2")).to_be_visible()
    expect(plain.locator(".plan-changes ins").first).to_contain_text("Without a script")
    context.close()
