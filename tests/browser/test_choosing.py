"""Choosing files in a real browser: what cannot be read is said before anything is sent."""

from __future__ import annotations

import zipfile
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.test_story import check_accessible

NOT_READ = {
    "lease.pdf": (b"%PDF-1.4\n1 0 obj", "PDF"),
    "letter.rtf": (b"{\\rtf1\\ansi Hello}", "RTF"),
    "logo.png": (b"\x89PNG\r\n\x1a\n\0\0", "image"),
    "x.bin": (b"\0\1\2", "not text"),
}
READ = {
    "bmw.txt": "BMW-Verträge".encode("cp1252"),
    "empty.txt": b"",
    "latin.txt": "Größe".encode("utf-16-le"),
    "marked.txt": "Größe".encode("utf-16"),
    "pdf.md": b"%PDF- is how they begin",
    "utf.md": "Größe der Straße\n".encode() * 1_000,
}


def test_files_that_cannot_be_read_are_said_as_soon_as_they_are_chosen(page: Page, tmp_path: Path) -> None:
    for name, content in {**READ, **{name: content for name, (content, _) in NOT_READ.items()}}.items():
        (tmp_path / name).write_bytes(content)
    with zipfile.ZipFile(tmp_path / "offer.docx", "w") as archive:
        archive.writestr("[Content_Types].xml", b"x" * 10_000)
        archive.writestr("word/document.xml", b"x")
    page.get_by_role("link", name="New run").first.click()
    said = page.locator("#unreadable")
    page.locator("input#id_files").set_input_files([tmp_path / name for name in READ])
    expect(page.locator("#chosen-sum")).to_contain_text(f"{len(READ)} files")
    expect(said).to_be_hidden()
    page.locator("input#id_files").set_input_files([tmp_path / name for name in (*NOT_READ, "offer.docx")])
    expect(said).to_have_text(
        "5 of 11 files cannot be read yet: lease.pdf (PDF), letter.rtf (RTF), logo.png (image), x.bin (not text), "
        "offer.docx (Word). They will be open points unless you exclude them."
    )
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        check_accessible(page)
    for name in ("letter.rtf", "logo.png", "x.bin", "offer.docx"):
        page.locator(f"button[data-path='{name}']").click()
    expect(said).to_have_text(
        "1 of 7 files cannot be read yet: lease.pdf (PDF). It will be an open point unless you exclude it."
    )
    page.locator("#remove-all").click()
    expect(said).to_be_hidden()


def test_many_files_are_looked_at_within_bounds(page: Page, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number:03}.pdf" for number in range(310)]
    for path in paths:
        path.write_bytes(b"%PDF-1.7\n")
    page.get_by_role("link", name="New run").first.click()
    page.locator("input#id_files").set_input_files(paths)
    expect(page.locator("#unreadable")).to_contain_text("300 of the first 300 files cannot be read yet: 000.pdf (PDF)")
    expect(page.locator("#unreadable")).to_contain_text("007.pdf (PDF) and 292 more.")
