"""The address of a draft: files are answered one by one, and belong to one person and one form."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings
from pytest_django.fixtures import DjangoAssertNumQueries

from runs.models import Draft, DraftFile, Event, Rendition, Run
from runs.store import blobs, trees
from tests import factories
from tests.documents.archives import zipped
from tests.integration.source import without_layout
from tests.integration.web.submitting import JSON, file, form

TOKEN = "12345678-1234-5678-1234-567812345678"
PLACE = f"/runs/drafts/{TOKEN}/"


def send(client: Client, *names: str, content: bytes = b"text", **fields: Any) -> Any:
    files = [SimpleUploadedFile(name.rsplit("/", 1)[-1] or "x", content) for name in names]
    return client.post(PLACE, {"files": files, "paths": list(names), **fields}, headers=JSON).json()


def test_files_are_answered_at_once_and_submitted_without_being_sent_again(alice_client: Client) -> None:
    answer = send(alice_client, "a.md", "folder/b.md")
    assert (answer["files"], answer["errors"]) == (2, [])
    assert '<span class="path">folder/b.md</span>' in answer["html"]
    made = alice_client.post("/runs/new/", form(token=TOKEN, has_draft="on", no_files=""), headers=JSON)
    assert made.status_code == 201
    assert list(trees.files_of(Run.objects.get().inputs)) == ["a.md", "folder/b.md"]
    again = alice_client.post("/runs/new/", form(token=TOKEN, has_draft="on", no_files=""), headers=JSON)
    assert again.json() == made.json()
    page = alice_client.get(f"/runs/new/?draft={TOKEN}").text
    assert f'This became <a href="{made.json()["location"]}">run {Run.objects.get().pk}</a>.' in page


def test_a_request_that_is_too_long_becomes_a_file_which_the_request_names(alice_client: Client) -> None:
    long = "# Review all leases.\n\n" + "Every lease has clauses. " * 900
    send(alice_client, "request.md", content=b"Another file of this name.")
    answer = alice_client.post(PLACE, {"into_file": "on", "request": long}, headers=JSON).json()
    assert answer["request"] == (
        "Review all leases.\n\nThe whole request is in the file request-2.md. Read all of it, and do what it asks for."
    )
    assert (answer["files"], answer["errors"]) == (2, [])
    files = {row.path: row for row in DraftFile.objects.all()}
    assert trees.read_text(files["request-2.md"].sha256) == long.strip()
    assert trees.read_text(files["request.md"].sha256) == "Another file of this name."
    empty = alice_client.post(PLACE, {"into_file": "on", "request": " "}, headers=JSON).json()
    assert empty["errors"] == ["There are no words that could go into a file; the request is empty."]


def test_without_a_script_a_request_that_is_too_long_is_kept_and_can_become_a_file(alice_client: Client) -> None:
    long = "Review all leases. " * 1_100
    refused = alice_client.post("/runs/new/", form(token=TOKEN, request=long))
    assert (refused.status_code, long.strip() in refused.text) == (422, True)
    assert "This is too long by 899 characters; 20,000 fit. Nothing was cut." in refused.text
    assert '<div class="stack tight" data-too-long>' in refused.text
    moved = alice_client.post(PLACE, form(token=TOKEN, request=long, into_file="on"))
    assert (moved.status_code, "The whole request is in the file request.md." in moved.text) == (200, True)
    assert '<div class="stack tight" data-too-long hidden>' in moved.text
    assert list(DraftFile.objects.values_list("path", flat=True)) == ["request.md"]


def test_what_cannot_be_read_is_said_and_stands_first(alice_client: Client) -> None:
    send(alice_client, "a.md")
    html = without_layout(send(alice_client, "z.mp4", content=b"\0\0\0 ftypisom")["html"])
    assert html.index("z.mp4") < html.index("a.md")
    assert "It is sound or film, which cannot be read." in html
    assert "1 cannot be read" in html


def test_a_guessed_encoding_is_said_and_another_one_can_be_chosen(alice_client: Client) -> None:
    html = send(alice_client, "z.md", "ağaç.txt", content="müşteri\n".encode("cp1254"))["html"]
    assert "Its encoding was guessed as Windows-1254: “müşteri” would be “müţteri” in Windows-1250" in html
    chosen = {"choose_encodings": "on", "encoding": ["", "z.md//cp1250", "ağaç.txt//koi8_r"]}
    html = alice_client.post(PLACE, chosen, headers=JSON).json()["html"]
    assert ("Read as Windows-1250, as you chose" in html, "Read as KOI8-R" in html) == (True, True)
    assert (
        alice_client.post(PLACE, {"choose_encodings": "on", "encoding": "ağaç.txt//guessed"}, headers=JSON)
        .json()["html"]
        .count("as you chose")
        == 1
    )
    alice_client.post("/runs/new/", form(token=TOKEN, has_draft="on", no_files=""), headers=JSON)
    run = Run.objects.get()
    files = trees.files_of(run.inputs)
    assert trees.read_text(files["z.md"].sha256) == "müţteri\n"
    given = "müşteri\n".encode("cp1254")
    assert blobs.read(files["ağaç.txt"].sha256) == given
    [submitted] = Event.objects.filter(run=run, kind="submitted")
    assert (
        f"z.md was read as Windows-1250, which alice has chosen, and is kept as UTF-8. The file that was given has the "
        f"SHA-256 {hashlib.sha256(given).hexdigest()}."
    ) in submitted.data["not_read"]
    page = alice_client.get(f"/runs/{run.pk}/files/ağaç.txt").text
    assert "Its encoding was guessed as Windows-1254" in page


def test_another_encoding_can_be_chosen_for_a_run_that_is_run_again(alice_client: Client) -> None:
    send(alice_client, "z.md", content="müşteri\n".encode("cp1254"))
    alice_client.post("/runs/new/", form(token=TOKEN, has_draft="on", no_files=""), headers=JSON)
    run = Run.objects.get()
    alice_client.post(f"/runs/{run.pk}/stop/", {})
    link = f'<a href="/runs/{run.pk}/again/with/">Run again with another encoding</a>'
    assert link in alice_client.get(f"/runs/{run.pk}/files/z.md").text
    assert 'name="choose_encodings"' in alice_client.get(f"/runs/{run.pk}/again/with/").text
    place = PLACE.replace("1234567812345678", "1234567812345679").replace("345678/", "345679/")
    chosen = {"choose_encodings": "on", "encoding": "z.md//cp1250", "run": run.pk}
    html = alice_client.post(place, chosen, headers=JSON).json()["html"]
    assert "Read as Windows-1250, as you chose" in html


@pytest.mark.parametrize(
    ("chosen", "error"),
    [
        ("b.md//iso8859_2", "The files have changed since."),
        ("a.md//utf_7", "The files have changed since."),
        ("a.md//cp932", "a.md is not text in Shift JIS; choose another encoding."),
    ],
)
def test_a_choice_that_cannot_be_kept_changes_nothing(alice_client: Client, chosen: str, error: str) -> None:
    send(alice_client, "a.md", content=b"\x81\x20\xe9")
    answer = alice_client.post(PLACE, {"choose_encodings": "on", "encoding": chosen}, headers=JSON).json()
    assert answer["errors"][0].startswith(error)
    assert list(DraftFile.objects.values_list("path", "encoding", "removed")) == [("a.md", "", False)]


def test_a_doubtful_name_is_said_beside_its_file(alice_client: Client) -> None:
    data = zipped({"xxxx.txt": b"x"}).replace(b"xxxx.txt", "東京.txt".encode("cp932"))
    html = without_layout(send(alice_client, "p.zip", content=data)["html"])
    assert "“東京.txt” is taken for its name, which would be “" in html
    assert ("1 to look at" in html, "Another encoding" in html) == (True, False)


def test_what_is_plain_offers_no_other_encoding(alice_client: Client) -> None:
    for content in (b"plain", "Škoda".encode(), "Škoda".encode("utf-16"), "Der Käufer zahlt für Öl.".encode("cp1252")):
        html = send(alice_client, "a.md", content=content)["html"]
        assert ("guessed" in html, 'name="encoding"' in html) == (False, False)


def test_what_is_not_taken_is_said_with_the_reason_and_escaped(alice_client: Client, settings: Settings) -> None:
    settings.FILE_BYTES = 3
    answer = send(alice_client, "../<b>", "large.md", "app/.env")
    assert answer["files"] == 0
    assert "&lt;b&gt;" in answer["html"]
    assert "<b>" not in answer["html"]
    assert "It has 0.0 MB; one file may have 0.0 MB." in answer["html"]
    assert "app/.env" in answer["html"]


def test_files_are_removed_one_by_one_or_all(alice_client: Client) -> None:
    send(alice_client, "a.md", "b.md", "c.md")
    answer = alice_client.post(PLACE, {"remove": ["a.md", "not there"]}, headers=JSON).json()
    assert (answer["files"], "a.md" in answer["html"]) == (2, False)
    assert alice_client.post(PLACE, {"remove_all": "on"}, headers=JSON).json()["files"] == 0


def test_without_a_script_what_was_typed_is_kept_when_a_file_is_removed(alice_client: Client) -> None:
    send(alice_client, "a.md", "b.md")
    sent = {**form(request="Keep <me>", attempts=7, token=TOKEN), "remove": "a.md"}
    del sent["reuse"]
    page = alice_client.post(PLACE, sent)
    assert "Keep &lt;me&gt;</textarea>" in page.text
    assert 'name="attempts" value="7"' in page.text
    assert 'name="reuse" id="id_reuse" checked' not in " ".join(page.text.split())
    assert ('<span class="path">b.md</span>' in page.text, '<span class="path">a.md</span>' in page.text) == (
        True,
        False,
    )


def test_a_draft_is_there_again_after_a_reload_and_offered_until_it_is_submitted(alice_client: Client) -> None:
    send(alice_client, "a.md")
    assert '<span class="path">a.md</span>' in alice_client.get(f"/runs/new/?draft={TOKEN}").text
    assert f'href="/runs/new/?draft={TOKEN}"' in alice_client.get("/runs/new/").text
    assert alice_client.post(PLACE, {"discard": "on"})["Location"] == "/runs/new/"
    assert TOKEN not in alice_client.get("/runs/new/").text


def test_a_draft_that_is_gone_is_one_sentence(alice_client: Client) -> None:
    send(alice_client, "a.md")
    Draft.objects.all().delete()
    answer = alice_client.post("/runs/new/", form(token=TOKEN, has_draft="on", no_files=""), headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        "The files of this form are gone: they are kept for a day after the last one was added. Your words are still "
        "here; add the files again."
    ]


def test_the_draft_of_somebody_else_is_not_found(alice_client: Client, charlie_client: Client) -> None:
    send(alice_client, "a.md")
    for fields in ({"remove": "a.md"}, {"files": [file("b.md")]}, {"discard": "on"}):
        assert charlie_client.post(PLACE, fields, headers=JSON).status_code == 404
    assert "a.md" not in charlie_client.get(f"/runs/new/?draft={TOKEN}").text
    assert [one.path for one in DraftFile.objects.filter(removed=False)] == ["a.md"]


def test_a_run_of_somebody_else_gives_no_files(charlie_client: Client) -> None:
    run = factories.finished_succeeded()
    assert charlie_client.post(PLACE, {"run": run.pk, "remove": "x"}, headers=JSON).status_code == 404
    assert not Draft.objects.exists()


def test_hostile_names_and_many_small_files_end_in_sentences(alice_client: Client, settings: Settings) -> None:
    settings.UPLOAD_FILES = 50
    names = ["", " ", "a\0.md", "C:/x", "con", "a" * 500, "/".join("abcdefghijklmnopqrstuvw"), "é.md", "e\u0301.md"]
    answer = send(alice_client, *names, *(f"{number}.md" for number in range(60)))
    assert answer["files"] == 50
    assert answer["html"].count("<li>") >= 50


def test_files_and_paths_that_do_not_fit_are_refused_whole(alice_client: Client) -> None:
    answer = alice_client.post(PLACE, {"files": [file("a")], "paths": ["a", "b"]}, headers=JSON)
    assert (answer.status_code, answer.json()["errors"][0].startswith("The files did not arrive")) == (422, True)


@pytest.mark.parametrize("count", [1, 30])
def test_the_list_costs_the_same_for_any_number_of_files(
    alice_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    send(alice_client, *(f"{number}.md" for number in range(count)))
    with django_assert_max_num_queries(17):
        alice_client.get(f"/runs/new/?draft={TOKEN}")


def test_an_address_with_a_draft_that_is_none_is_a_fresh_form(alice_client: Client) -> None:
    assert alice_client.get("/runs/new/?draft=nonsense").status_code == 200
    assert str(uuid.UUID(TOKEN)) in alice_client.get(f"/runs/new/?draft={TOKEN}").text


def test_a_document_that_is_being_read_says_so_and_then_how_much_it_is(alice_client: Client) -> None:
    send(alice_client, "scan.png", content=b"\x89PNG\r\n\x1a\n")
    first = alice_client.get(PLACE, headers=JSON).json()
    html = without_layout(first["html"])
    assert (first["reading"], "being read …" in html, "1 being read" in html) == (1, True, True)
    assert "cannot be read" not in first["html"]
    Rendition.objects.update(text="a" * 64, layout="b" * 64, extent="12 pages", notes=("Page 3 of 12 is a picture.",))
    then = alice_client.get(PLACE, headers=JSON).json()
    assert (then["reading"], "12 pages, 8 bytes" in without_layout(then["html"])) == (0, True)
    assert "Page 3 of 12 is a picture." in then["html"]
    assert "1 in part" in without_layout(then["html"])


def test_a_draft_that_has_not_begun_has_no_list(alice_client: Client) -> None:
    assert alice_client.get(PLACE).status_code == 404
