"""A new run in a real browser: files go up when they are chosen, words are kept, answers stand at the button."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import check_accessible, check_both_themes
from tests.browser.site import Site, wait_for_kept
from tests.documents.archives import zipped

NOT_READ = {
    "lease.7z": (b"7z\xbc\xaf\x27\x1c", "It is an archive of a kind that is not unpacked; give it as .zip or .tar.gz."),
    "talk.mp4": (b"\0\0\0 ftypisom", "It is sound or film, which cannot be read."),
    "x.bin": (b"\0\1\2", "It is not text."),
}
READ = {"latin.txt": "Größe".encode("utf-16"), "utf.md": "Größe der Straße\n".encode() * 1_000}


@pytest.fixture
def form(blank: Page, site: Site, me: str) -> Page:
    site.write("discard_drafts", me)  # of the stories before: there may be only a few at a time
    blank.goto(f"{site.url}/runs/new/")
    return blank


@pytest.fixture
def papers(tmp_path: Path) -> list[Path]:
    for name, content in {**READ, **{name: content for name, (content, _) in NOT_READ.items()}}.items():
        (tmp_path / name).write_bytes(content)
    return sorted(tmp_path.iterdir())


def choose(page: Page, *paths: Path) -> None:
    page.locator("input#id_files").set_input_files(list(paths))


def summary(page: Page) -> str:
    return page.locator("#draft-files strong").inner_text()


def test_files_are_sent_when_they_are_chosen_and_what_cannot_be_read_is_said_first(
    form: Page, papers: list[Path]
) -> None:
    choose(form, *papers)
    expect(form.locator("#draft-files strong")).to_contain_text("5 files")
    expect(form.locator("#draft-files .badge")).to_have_text("3 cannot be read")
    rows = form.locator("#draft-files li")
    assert rows.locator(".path").all_inner_texts() == ["lease.7z", "talk.mp4", "x.bin", "latin.txt", "utf.md"]
    assert rows.locator(".why").all_inner_texts() == [why for _, why in NOT_READ.values()]
    check_both_themes(form)
    form.get_by_role("button", name="Remove talk.mp4").click()
    expect(form.locator("#draft-files strong")).to_contain_text("4 files")
    expect(form.get_by_role("button", name="Remove x.bin")).to_be_focused()
    form.get_by_role("button", name="Remove all").click()
    expect(form.locator("#draft-files strong")).to_have_count(0)


@pytest.mark.exhaustive
def test_another_encoding_is_chosen_beside_the_file(form: Page, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("müşteri\n".encode("cp1254"))
    choose(form, tmp_path / "a.txt")
    row = form.locator("#draft-files li")
    expect(row.locator(".why").first).to_contain_text("Its encoding was guessed as Windows-1254")
    check_both_themes(form)
    row.get_by_label("Another encoding of a.txt").select_option("Windows-1250")
    form.get_by_role("button", name="Read a.txt in this encoding").click()
    expect(row.locator(".why").first).to_contain_text("Read as Windows-1250, as you chose")


def test_an_archive_that_is_dropped_becomes_its_files(form: Page) -> None:
    files = {
        "project/a.md": b"one",
        "project/notes/b.md": b"two",
        "project/.git/config": b"x",
        "project/.env": b"KEY=1",
    }
    dropped = form.evaluate_handle(
        """(bytes) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([new Uint8Array(bytes)], "download.zip"));
            return transfer;
        }""",
        list(zipped(files)),
    )
    form.dispatch_event("#drop", "drop", {"dataTransfer": dropped})
    expect(form.locator("#draft-files li .path")).to_have_text(
        ["download.zip/project/.git", "project/a.md", "project/notes/b.md"]
    )
    expect(form.locator("#draft-files .refused")).to_contain_text("It is rarely needed, so it was left out.")
    expect(form.locator("#left-out")).to_contain_text("project/.env")


def test_words_files_and_policy_survive_a_reload_and_signing_out(
    form: Page, site: Site, me: str, papers: list[Path]
) -> None:
    form.fill("#id_request", "Sort these papers.")
    choose(form, *papers)
    form.get_by_text("Careful").click()
    form.locator(".policy-fold summary").click()
    form.fill("#id_attempts", "7")
    expect(form.locator("#policy-changed")).to_have_text("1 changed")
    expect(form.locator("#draft-files strong")).to_contain_text("5 files")
    wait_for_kept(form, '["attempts","","7"]')
    form.reload()
    expect(form.locator("#id_request")).to_have_value("Sort these papers.")
    address = form.url
    form.context.clear_cookies()
    form.reload()
    expect(form.get_by_role("heading", name="Sign in")).to_be_visible()
    form.goto(site.manage("people", "link", me, "--base", site.url).strip())
    form.get_by_role("button", name="Sign in").click()
    expect(form.locator("#id_request")).to_have_value("Sort these papers.")
    assert form.url == address
    assert summary(form).startswith("5 files")
    assert form.input_value("#id_attempts") == "7"
    expect(form.get_by_role("radio", name="Careful")).to_be_checked()


@pytest.mark.exhaustive
def test_words_that_were_left_without_files_are_offered_when_one_comes_back(form: Page) -> None:
    form.fill("#id_request", "Sort what is <b>left</b>.")
    wait_for_kept(form, "Sort what is <b>left</b>.")
    form.get_by_role("link", name="Inbox").first.click()
    form.get_by_role("link", name="New run").first.click()
    expect(form.locator("#id_request")).to_have_value("")
    left = form.locator(".unfinished", has_text="Sort what is <b>left</b>.")
    left.get_by_role("link", name="Continue").click()
    expect(form.locator("#id_request")).to_have_value("Sort what is <b>left</b>.")
    form.get_by_role("link", name="New run").first.click()
    left.get_by_role("button", name="Discard").click()
    expect(left).to_have_count(0)
    form.reload()
    expect(left).to_have_count(0)


def test_a_pasted_request_that_is_too_long_is_kept_whole_and_becomes_a_file(form: Page) -> None:
    long = "Review the leases.\n" + "Each has many clauses. " * 900 + "The last words."
    form.locator("#id_request").focus()
    form.evaluate("text => document.execCommand('insertText', false, text)", long)
    expect(form.locator("#id_request")).to_have_value(long)
    problem = form.locator(".request-field [data-too-long]")
    expect(problem).to_contain_text("Too long by 734 characters; 20,000 fit. Nothing was cut.")
    check_both_themes(form)
    form.get_by_role("button", name="Submit and make a plan").click()
    expect(form.locator("#id_request")).to_be_focused()
    expect(form.locator("#submit-state")).to_have_text("")
    form.get_by_role("button", name="Put it into a file for me").click()
    expect(form.locator("#id_request")).to_have_value(
        "Review the leases.\n\nThe whole request is in the file request.md. Read all of it, and do what it asks for."
    )
    expect(problem).to_be_hidden()
    expect(form.locator("#draft-files li .path")).to_have_text(["request.md"])


@pytest.mark.provokes("422")
def test_a_request_that_speaks_of_papers_is_asked_about_them_once(form: Page, papers: list[Path]) -> None:
    form.fill("#id_request", "Review these contracts.")
    form.get_by_role("button", name="Submit and make a plan").click()
    question = form.locator("#question")
    expect(question).to_contain_text("You speak of “these contracts”, but no file is attached.")
    expect(question).to_be_focused()
    check_accessible(form)
    with form.expect_file_chooser() as chooser:
        question.get_by_role("button", name="Add files").click()
    chooser.value.set_files(papers[1])
    expect(form.locator("#draft-files strong")).to_contain_text("1 file")
    expect(question).to_be_hidden()
    form.get_by_role("button", name="Remove all").click()
    expect(form.locator("#draft-files strong")).to_have_count(0)
    form.get_by_role("button", name="Submit and make a plan").click()
    question.get_by_role("button", name="There are none").click()
    expect(form.locator("#problems")).to_contain_text("There are no files to review")
    expect(question).to_be_hidden()


@pytest.mark.provokes("ERR_INTERNET_DISCONNECTED")
def test_without_a_connection_nothing_is_lost_and_it_goes_on_by_itself(form: Page, papers: list[Path]) -> None:
    form.fill("#id_request", "Sort these papers.")
    form.context.set_offline(True)
    choose(form, *papers)
    expect(form.locator("#not-sent")).to_contain_text("Not sent: the server cannot be reached")
    form.get_by_role("button", name="Submit and make a plan").click()
    expect(form.locator("#problems")).to_contain_text("Some files were not sent.")
    form.context.set_offline(False)
    expect(form.locator("#draft-files strong")).to_contain_text("5 files")
    expect(form.locator("#not-sent")).to_be_hidden()


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
@pytest.mark.exhaustive
def test_the_button_is_in_view_and_nothing_moves_when_files_come_in(
    form: Page, papers: list[Path], size: tuple[int, int]
) -> None:
    form.set_viewport_size({"width": size[0], "height": size[1]})
    form.reload()
    button = form.get_by_role("button", name="Submit and make a plan")
    expect(button).to_be_in_viewport(ratio=1)
    choose(form, *papers)
    expect(form.locator("#draft-files strong")).to_contain_text("5 files")
    expect(button).to_be_in_viewport(ratio=1)
    shift = """() => new Promise((resolve) => new PerformanceObserver((list) => resolve(
        list.getEntries().reduce((sum, one) => sum + one.value, 0))).observe({type: "layout-shift", buffered: true})
        || setTimeout(() => resolve(0), 500))"""
    assert form.evaluate(shift) < 0.1
    assert form.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.exhaustive
def test_without_a_script_the_form_takes_files_and_shows_them_again(
    plain: Page, site: Site, papers: list[Path]
) -> None:
    page = plain
    page.goto(f"{site.url}/runs/new/")
    page.fill("#id_request", "Sort these papers.")
    choose(page, *papers)
    page.get_by_role("button", name="Submit and make a plan").click()
    expect(page.locator("#problems")).to_contain_text("is neither a text nor a document")
    assert page.input_value("#id_request") == "Sort these papers."
    assert summary(page).startswith("5 files")
    page.get_by_role("button", name="Remove talk.mp4").click()
    assert summary(page).startswith("4 files")
    assert page.input_value("#id_request") == "Sort these papers."


@pytest.mark.exhaustive
@pytest.mark.provokes("409")
def test_after_back_the_form_says_which_run_it_became_and_makes_no_second_one(form: Page, papers: list[Path]) -> None:
    choose(form, next(path for path in papers if path.name == "utf.md"))
    expect(form.locator("#draft-files strong")).to_contain_text("1 file")
    form.locator("#id_request").fill("Review what was agreed")
    form.locator("#id_template").select_option("document-review")
    form.get_by_role("button", name="Submit and make a plan").click()
    expect(form.locator("#live")).to_have_attribute("data-state", "live")
    run = form.url
    form.go_back()
    became = form.locator("#became")
    expect(became).to_contain_text("This became run")
    expect(became.get_by_role("link")).to_have_attribute("href", run[run.index("/runs/") :])
    expect(form.locator("#id_request")).to_have_value("Review what was agreed")
    check_accessible(form)
    form.locator("#id_request").fill("Review what was agreed, and more")
    with form.expect_navigation():
        form.get_by_role("button", name="Submit and make a plan").click()
    expect(became).to_contain_text("This became run")
    expect(form.locator("#id_request")).to_have_value("Review what was agreed, and more")
    became.get_by_role("link").click()
    expect(form).to_have_url(run)
