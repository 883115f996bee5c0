"""The page of a file and its download."""

import re
import uuid
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from runs.models import Attempt, Run, User
from runs.store import trees
from runs.submission.intake import Upload
from runs.submission.submit import Submission, submit
from tests import factories


def run_with(files: dict[str, bytes]) -> Run:
    uploads = [Upload(path, ContentFile(content)) for path, content in files.items()]
    return submit(factories.alice(), Submission("Do it", uploads, factories.policy(), uuid.uuid4(), no_files=True))


def test_lines_are_numbered_and_the_place_is_marked(alice_client: Client) -> None:
    run = run_with({"a b/ü.txt": b"one\ntwo <b>\nthree\n"})
    text = alice_client.get(f"/runs/{run.pk}/files/{quote('a b/ü.txt')}", {"start": 4, "end": 13}).text
    assert '<td><mark id="hit">two &lt;b&gt;</mark></td>' in text
    assert "<td><mark>t</mark>hree</td>" in text
    assert 'id="L3"' in text


@pytest.mark.parametrize("place", [{"start": "x", "end": "9"}, {"start": 5, "end": 2}, {"start": 0, "end": 10**10}])
def test_a_place_outside_of_the_file_marks_nothing(alice_client: Client, place: dict[str, Any]) -> None:
    run = run_with({"a.txt": b"one"})
    answer = alice_client.get(f"/runs/{run.pk}/files/a.txt", place)
    assert answer.status_code == 200
    assert "<mark" not in answer.text


def test_markdown_is_rendered_clean_and_shown_as_text_when_asked(alice_client: Client) -> None:
    run = run_with({"a.md": b"# Title\n<script>alert(1)</script>\n[x](javascript:alert(1)) [y](b.md)"})
    rendered = alice_client.get(f"/runs/{run.pk}/files/a.md").text
    assert "<h3>Title</h3>" in rendered
    assert "<script>alert" not in rendered
    assert 'href="javascript' not in rendered
    assert "broken citation" not in rendered
    assert "<td># Title</td>" in alice_client.get(f"/runs/{run.pk}/files/a.md?view=text").text


def test_a_place_in_markdown_is_shown_in_its_text(alice_client: Client) -> None:
    run = run_with({"a.md": b"# Title\n\nwords"})
    assert '# <mark id="hit">Title</mark>' in alice_client.get(f"/runs/{run.pk}/files/a.md?start=2&end=7").text


def test_a_mail_and_what_is_attached_to_it_lead_to_each_other(alice_client: Client) -> None:
    run = run_with({"m.eml": b"From: a\n\nSee.", "m.eml attachments/lease.md": b"# Lease", "n attachments/b.md": b"B"})
    mail = alice_client.get(f"/runs/{run.pk}/files/m.eml").text
    assert f'<li><a href="/runs/{run.pk}/files/m.eml%20attachments/lease.md">lease.md</a></li>' in mail
    attached = alice_client.get(f"/runs/{run.pk}/files/m.eml%20attachments/lease.md").text
    assert f'<li>attached to <a href="/runs/{run.pk}/files/m.eml">m.eml</a></li>' in attached
    other = alice_client.get(f"/runs/{run.pk}/files/n%20attachments/b.md").text
    assert "attached to" not in other
    assert "Attached files" not in other


def test_a_csv_file_is_a_table_some_rows_at_a_time(alice_client: Client) -> None:
    rows = "".join(f"{number};<b>\n" for number in range(1, 1_201))
    run = run_with({"a.csv": f"n;word\n{rows}".encode()})
    text = alice_client.get(f"/runs/{run.pk}/files/a.csv").text
    assert "Rows 1 to 500 of 1,200" in text
    assert '<th scope="col">n</th><th scope="col">word</th>' in text
    assert '<tr><th scope="row">2</th><td>1</td><td>&lt;b&gt;</td></tr>' in text
    later = alice_client.get(f"/runs/{run.pk}/files/a.csv?view=table&row=1001").text
    assert "Rows 1,001 to 1,200 of 1,200" in later
    assert "view=table&amp;row=501" in later


def test_the_row_of_a_place_is_marked_in_the_table(alice_client: Client) -> None:
    rows = "".join(f"{number},x\n" for number in range(1, 1_201))
    text = f"n,word\n{rows}"
    run = run_with({"a.csv": text.encode()})
    at = text.index("\n777,") + 1
    page = alice_client.get(f"/runs/{run.pk}/files/a.csv?start={at}&end={at + 3}&view=table").text
    assert "Rows 501 to 1,000 of 1,200" in page
    assert '<tr class="hit-line" id="hit"><th scope="row">778</th><td>777</td>' in page


def test_json_folds_and_keeps_every_digit(alice_client: Client) -> None:
    run = run_with({"a.json": b'{"a": [1.10, null, "<b>"], "a": {}}'})
    text = alice_client.get(f"/runs/{run.pk}/files/a.json").text
    assert '<span class="outline-value" data-sort="number">1.10</span>' in text
    assert '<span class="outline-value" data-sort="constant">null</span>' in text
    assert '<span class="outline-value" data-sort="string">&lt;b&gt;</span>' in text
    assert text.count("<details open>") == text.count('<span class="faint">list of 3</span>') + 1
    assert "empty object" in text
    shown = alice_client.get(f"/runs/{run.pk}/files/a.json?view=text").text
    assert '<td>{<span class="code-f">&quot;a&quot;</span>: [<span class="code-n">1.10</span>' in shown


@pytest.mark.parametrize(
    ("path", "content"), [("a.json", b"{"), ("a.json", b"[" * 10_000), ("a.csv", b'"' + b"x,\n" * 340_000)]
)
def test_what_cannot_be_laid_out_is_text_and_says_so(alice_client: Client, path: str, content: bytes) -> None:
    run = run_with({path: content})
    text = alice_client.get(f"/runs/{run.pk}/files/{path}").text
    assert "shown as text." in text
    assert '<table class="source">' in text


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 30


def test_a_picture_is_shown_as_itself_by_its_bytes(alice_client: Client) -> None:
    run = run_with(
        {"scan.txt": PNG, "evil.png": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"}
    )
    page = alice_client.get(f"/runs/{run.pk}/files/scan.txt").text
    (address,) = re.findall(r'<img src="(\?sha=[0-9a-f]+&amp;image=1)" alt="scan.txt"', page)
    answer = alice_client.get(f"/runs/{run.pk}/files/scan.txt{unescape(address)}")
    assert b"".join(answer.streaming_content) == PNG  # type: ignore[attr-defined]
    assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("image/png", "nosniff")
    assert answer["Content-Security-Policy"].startswith("default-src 'none'; ")
    assert answer["Content-Security-Policy"].endswith("; sandbox")
    assert alice_client.get(f"/runs/{run.pk}/files/evil.png?image=1").status_code == 404, "a page is not kept as one is"
    evil = alice_client.get(f"/runs/{run.pk}/files/evil.png")
    assert evil["Content-Type"] == "text/html; charset=utf-8"
    assert "&lt;svg" in evil.text
    assert "<svg xmlns" not in evil.text
    assert f"/runs/{run.pk}/files/scan.txt?sha=" in alice_client.get(f"/runs/{run.pk}/files/scan.txt?panel=1").text


def test_html_is_never_rendered(alice_client: Client) -> None:
    run = run_with({"a.html": b"<script>alert(1)</script>"})
    for query in ("", "?view=rendered", "?panel=1", "?image=1"):
        assert "<script>alert" not in alice_client.get(f"/runs/{run.pk}/files/a.html{query}").text


def test_versions_of_a_file_and_what_differs_between_two(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    attempts = Attempt.objects.filter(step__plan__run=run, step__key="review").order_by("number")
    first, second = (attempt.overlay[factories.REVIEW] for attempt in attempts)
    assert first
    assert second
    page = alice_client.get(f"/runs/{run.pk}/files/{factories.REVIEW}").text
    assert "Versions" in page
    address = f"?from={first.sha256}&amp;sha={second.sha256}"
    assert f'<a href="{address}">compare</a>' in page
    diff = alice_client.get(f"/runs/{run.pk}/files/{factories.REVIEW}{unescape(address)}").text
    assert '<tr class="added"><td class="at before"></td><td class="at after">7</td><td class="sign">+</td>' in diff
    assert "3. Lease: the commencement date is empty." in diff
    assert alice_client.get(f"/runs/{run.pk}/files/{factories.REVIEW}?from={'0' * 64}").status_code == 404


def test_a_table_says_what_a_spreadsheet_would_compute(alice_client: Client) -> None:
    run = run_with({"a.csv": b"a,=1+1\n", "b.csv": b"a,1\n"})
    text = alice_client.get(f"/runs/{run.pk}/files/a.csv").text
    assert "<strong>A spreadsheet program would calculate 1 cell of this table</strong>" in text
    assert "look like formulas" not in alice_client.get(f"/runs/{run.pk}/files/b.csv").text


def test_what_is_not_text_is_offered_for_download(alice_client: Client) -> None:
    run = run_with({"logo.png": b"\x89PNG\0"})
    assert "This file is not text" in alice_client.get(f"/runs/{run.pk}/files/logo.png").text


def test_a_download_is_never_shown(alice_client: Client) -> None:
    run = run_with({"ü evil.html": b"<script>alert(1)</script>"})
    answer = alice_client.get(f"/runs/{run.pk}/files/{quote('ü evil.html')}?download=1")
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"] == "attachment; filename*=utf-8''%C3%BC%20evil.html"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert b"".join(answer.streaming_content) == b"<script>alert(1)</script>"  # type: ignore[attr-defined]


def test_a_failed_attempts_file_can_be_read_by_its_hash_only(alice_client: Client) -> None:
    run = factories.failed_attempt()
    attempt = Attempt.objects.get(step__plan__run=run, step__key="review", number=1)
    written = attempt.overlay[factories.REVIEW]
    assert written is not None
    sha = written.sha256
    answer = alice_client.get(f"/runs/{run.pk}/files/{factories.REVIEW}?sha={sha}")
    assert answer.status_code == 200
    assert "This is not the newest version" in answer.text
    assert alice_client.get(f"/runs/{run.pk}/files/{factories.REVIEW}").status_code == 404


def test_what_a_person_is_asked_about_is_not_called_an_earlier_version(alice_client: Client) -> None:
    run = factories.step_gate()
    attempts = Attempt.objects.filter(step__plan__run=run, step__key="review").order_by("number")
    places = []
    for attempt in attempts:
        written = attempt.overlay[factories.REVIEW]
        assert written is not None
        places.append(f"/runs/{run.pk}/files/{factories.REVIEW}?sha={written.sha256}")
    panels = [alice_client.get(f"{place}&panel=1").text for place in places]
    facts = [re.findall(r'<p class="faint">(.*?) · <a ', panel) for panel in panels]
    assert facts == [["an earlier version"], ["attempt 2, not accepted yet"]]
    pages = [alice_client.get(place).text for place in places]
    assert ["This version needs a decision." in page for page in pages] == [False, True]
    assert ["This is not the newest version" in page for page in pages] == [True, False]


def test_a_hash_of_elsewhere_is_not_there(alice_client: Client) -> None:
    mine, other = run_with({"a.txt": b"mine"}), run_with({"b.txt": b"theirs"})
    sha = trees.files_of(other.inputs)["b.txt"].sha256
    assert alice_client.get(f"/runs/{mine.pk}/files/a.txt?sha={sha}").status_code == 404
    assert alice_client.get(f"/runs/{mine.pk}/files/b.txt").status_code == 404
    assert alice_client.get(f"/runs/{mine.pk}/files/../a.txt").status_code == 404


def test_a_large_file_is_shown_around_the_place(alice_client: Client) -> None:
    run = run_with({"big.txt": b"0123456789\n" * 200_000})
    text = alice_client.get(f"/runs/{run.pk}/files/big.txt", {"start": 1_100_000, "end": 1_100_005}).text
    assert '<mark id="hit">01234</mark>56789' in text
    assert "lines 99,601 to 100,800 of 200,000 are shown" in text


def test_bob_may_read_and_charlie_gets_404(client: Client, bob: User, charlie: User) -> None:
    run = factories.planning()
    for person, status in ((bob, 200), (charlie, 404)):
        client.force_login(person)
        assert client.get(f"/runs/{run.pk}/files/{quote(factories.LEASE)}").status_code == status
        assert client.get(f"/runs/{run.pk}/files/{quote(factories.LEASE)}?download=1").status_code == status


def test_text_in_another_encoding_is_shown_and_downloaded_as_it_was_given(alice_client: Client) -> None:
    run = run_with({"a.txt": "Größe der Straße".encode("cp1252")})
    page = alice_client.get(f"/runs/{run.pk}/files/a.txt").text
    assert "Größe der Straße" in page
    assert "<li>read as Windows-1252</li>" in page
    download = alice_client.get(f"/runs/{run.pk}/files/a.txt?download")
    assert b"".join(download.streaming_content) == "Größe der Straße".encode("cp1252")  # type: ignore[attr-defined]


def test_a_file_that_cannot_be_read_says_why(alice_client: Client) -> None:
    run = run_with({"film.mp4": b"\0\0\0 ftypisom"})
    page = alice_client.get(f"/runs/{run.pk}/files/film.mp4").text
    assert "<h3>This file is sound or film, which cannot be read</h3>" in page
