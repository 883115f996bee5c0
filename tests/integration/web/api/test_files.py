"""Files over the API: bytes and ranges, texts with places, uploads before a submission, and files given at a gate."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings

from runs.enums import AuditKind, GateKind, GateStatus, TokenScope
from runs.models import AuditEntry, Gate, Run
from runs.store import trees
from tests import factories as made
from tests.integration.web.api.asking import program_of
from tests.integration.web.test_documents import LEASE, run_of
from tests.integration.web.test_files import run_with
from tests.integration.web.test_missing_files import asking_for_annex

pytestmark = pytest.mark.django_db
TEXT = b"0123456789"


def sent(name: str, content: bytes = TEXT) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def body(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def test_files_are_listed_and_downloaded_with_a_line_in_the_audit_trail() -> None:
    run = run_of({"notes/a.html": TEXT, "b.pdf": b"1"})
    alice = program_of(made.alice())
    files = alice.get(f"/runs/{run.pk}/files").json()["files"]
    assert [(one["path"], one["change"], one["bytes"]) for one in files] == [
        ("b.pdf", "given", 1),
        ("notes/a.html", "given", 10),
    ]
    address = f"/runs/{run.pk}/files/notes/a.html"
    answer = alice.get(address)
    sha256 = files[1]["sha256"]
    assert (answer.status_code, body(answer), answer["ETag"]) == (200, TEXT, f'"{sha256}"')
    assert {
        name: answer[name] for name in ("Content-Type", "Content-Disposition", "Accept-Ranges", "Content-Length")
    } == {
        "Content-Type": "application/octet-stream",
        "Content-Disposition": 'attachment; filename="a.html"',
        "Accept-Ranges": "bytes",
        "Content-Length": "10",
    }
    assert answer["X-Content-Type-Options"] == "nosniff"
    line = AuditEntry.objects.get(kind=AuditKind.FILE_DOWNLOADED)
    assert (line.by, line.run_number, line.subject) == ("alice", run.pk, "notes/a.html")
    assert line.through == "access token “ci”"
    known = alice.get(address, **{"If-None-Match": f'"{sha256}"'})
    assert (known.status_code, known.content) == (304, b"")
    assert body(alice.get(f"{address}?sha256={sha256}")) == TEXT
    assert alice.get(f"{address}?sha256={'0' * 64}").status_code == 404
    assert alice.get(f"/runs/{run.pk}/files/b.pdf")["Content-Type"] == "application/pdf"


def test_ranges_of_bytes() -> None:
    run = run_of({"a.txt": TEXT})
    alice = program_of(made.alice())
    address = f"/runs/{run.pk}/files/a.txt"
    for asked, content, said in [
        ("bytes=0-3", b"0123", "bytes 0-3/10"),
        ("bytes=7-", b"789", "bytes 7-9/10"),
        ("bytes=-4", b"6789", "bytes 6-9/10"),
        ("bytes=-99", TEXT, "bytes 0-9/10"),
        ("bytes=8-99", b"89", "bytes 8-9/10"),
    ]:
        answer = alice.get(address, Range=asked)
        assert (asked, answer.status_code, answer["Content-Range"], body(answer)) == (asked, 206, said, content)
        assert answer["Content-Length"] == str(len(content))
    for asked in ("bytes=10-", "bytes=-0"):
        answer = alice.get(address, Range=asked)
        assert (answer.status_code, answer["Content-Range"]) == (416, "bytes */10")
        assert answer.json()["detail"] == "This file has 10 bytes, and none in that range."
    for asked in ("bytes=0-1,4-5", "bytes=4-2", "bytes=-", "lines=0-1"):
        answer = alice.get(address, Range=asked)
        assert (asked, answer.status_code, body(answer)) == (asked, 200, TEXT)
    changed = alice.get(address, **{"Range": "bytes=0-3", "If-Range": '"another"'})
    assert (changed.status_code, body(changed)) == (200, TEXT)


def test_a_document_is_read_as_text_with_the_places_that_citations_name() -> None:
    run = run_of({"lease.docx": LEASE})
    damaged = run_with({"a.bin": b"\0\1\2"})
    alice = program_of(made.alice())
    read = alice.get(f"/runs/{run.pk}/texts/lease.docx").json()
    assert read["text"].startswith("The rent is 1,200 EUR.")
    assert (read["extent"], read["total"], read["next_offset"]) == ("2 paragraphs", len(read["text"]), None)
    places = [(one["anchor"], one["words"], read["text"][one["start"] : one["end"]]) for one in read["places"]]
    assert places[0] == ("p1", "clause 1", "The rent is 1,200 EUR.")
    assert places[1] == ("p2", "paragraph 2", "It is paid within thirty days.")
    part = alice.get(f"/runs/{run.pk}/texts/lease.docx?offset={read['places'][1]['start']}&limit=5").json()
    assert (part["text"], [one["anchor"] for one in part["places"]]) == ("It is", ["p2"])
    assert part["next_offset"] == part["offset"] + 5
    unreadable = alice.get(f"/runs/{damaged.pk}/texts/a.bin")
    assert unreadable.status_code == 409
    assert unreadable.json()["detail"] == "“a.bin” is not text. Download it instead."


def test_files_are_uploaded_first_and_submitted_once() -> None:
    alice, bob = program_of(made.alice()), program_of(made.bob())
    first = alice.post("/uploads", {"files": [sent("a.md"), sent("k/id_rsa")], "paths": ["x/a.md", "k/id_rsa"]})
    assert first.status_code == 201
    upload = first.json()["upload"]
    assert [one["path"] for one in first.json()["files"]] == ["x/a.md"]
    assert [(one["path"], one["secret"]) for one in first.json()["not_taken"]] == [("k/id_rsa", True)]
    more = alice.post("/uploads", {"files": [sent("b.md")], "upload": upload})
    assert [one["path"] for one in more.json()["files"]] == ["b.md", "x/a.md"]
    for other in (
        bob.post("/uploads", {"files": [sent("c.md")], "upload": upload}),
        bob.call("delete", f"/uploads/{upload}"),
    ):
        assert other.status_code == 404
    form = {"request": "Review the lease.", "template": "document-review", "upload": upload}
    assert bob.post("/runs", {**form, "files": []}).status_code == 404
    made_run = alice.post("/runs", {**form, "files": [sent("c.md")]})
    again = alice.post("/runs", {**form, "files": [sent("c.md")]})
    assert (made_run.status_code, again.json()["run"]) == (201, made_run.json()["run"])
    run = Run.objects.get(pk=made_run.json()["run"])
    assert list(trees.files_of(run.inputs)) == ["b.md", "c.md", "x/a.md"]
    assert made_run.json()["left_out"] == ["k/id_rsa"]
    assert alice.call("delete", f"/uploads/{upload}").status_code == 404


def test_an_upload_is_discarded() -> None:
    alice = program_of(made.alice())
    upload = alice.post("/uploads", {"files": [sent("a.md")]}).json()["upload"]
    assert alice.call("delete", f"/uploads/{upload}").status_code == 204
    gone = alice.post("/runs", {"request": "Review it.", "upload": upload, "files": []})
    assert (gone.status_code, Run.objects.count()) == (404, 0)
    assert gone.json()["detail"] == (
        "This upload is gone: it was discarded, or is older than a day. Upload the files again."
    )


def test_missing_files_are_given_at_a_gate_as_it_was_read() -> None:
    gate = made.open_gate(asking_for_annex(), GateKind.PLAN)
    address = f"/gates/{gate.pk}/files"
    with override_settings(API_DECIDES=True):
        alice = program_of(made.alice(), TokenScope.GATES_DECIDE)
        outdated = alice.post(address, {"files": [sent("annex-b.md")], "fingerprint": "0" * 64})
        given = alice.post(address, {"files": [sent("annex-b.md")], "fingerprint": gate.digest})
    assert (outdated.status_code, given.status_code) == (409, 200)
    assert (given.json()["added"], given.json()["decision"]["status"]) == (["annex-b.md"], "supplied")
    gate = Gate.objects.get(pk=gate.pk)
    assert (gate.status, gate.decided_how) == (GateStatus.SUPPLIED, "through the API by token “ci”")
