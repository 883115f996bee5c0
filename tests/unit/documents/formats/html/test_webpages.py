"""Which HTML is a page that people read, and which is the source of a web project."""

import pytest

from runs.documents.file_kinds import HEAD_BYTES, FileKind, is_document, kind_of
from tests.hostile.bounds import within

LETTER = (
    "The landlord lets the flat on the second floor to the tenant for an unlimited time. The rent of CHF 1,200 is due "
    "in advance on the first day of each month. Either party may end the lease with three months' notice."
)
GOOGLE_DOCS = (
    '<html><head><meta content="text/html; charset=UTF-8" http-equiv="content-type"><style type="text/css">@import url('
    'https://themes.googleusercontent.com/fonts/css?kit=fpjTOVmKbO4Lt34uLyBuBQ);.lst-kix_a1-0>li:before{content:"●"}'
    "ol{margin:0;padding:0}table td,table th{padding:0}.c1{font-size:11pt}</style></head>"
    '<body class="c4 doc-content"><p class="c2"><span class="c1">Rent is due.</span></p></body></html>'
)
WORD = (
    '<html xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"><head>'
    '<meta name=Generator content="Microsoft Word 15"></head><body><p class=MsoNormal>Rent is due.</p></body></html>'
)
MAIL = (
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1.dtd">\n'
    '<html><head><meta charset="utf-8"><style>.x{color:red}</style></head><body style="margin:0"><table><tr>'
    f'<td style="padding:8px"><a href="https://example.org">Anna</a></td><td style="padding:8px">{LETTER}</td></tr>'
    '</table><img src="cid:logo"></body></html>'
)
NOTES = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!-- kept - as it is -->\n<!DOCTYPE html>\n<html><head><title>N</title>'
    f'<style>{".s { margin: 0 }" * 2_000}</style></head><body><p class="p1"><span class="s1">{LETTER}</span></p>'
    "<script>print()</script></body></html>"
)
FIREFOX = (
    '<!DOCTYPE html><html><head><meta name="generator" content="WordPress 6.8"><link rel="stylesheet" '
    f'href="Lease_files/style.css"><script src="Lease_files/a.js"></script></head><body><h1>Lease</h1>{LETTER}</body>'
)
DJANGO = f'{{% extends "base.html" %}}{{% block page %}}<p style="margin:0">{LETTER}</p>{{% endblock %}}'
BASE = (
    f'<!DOCTYPE html><html><head><title>{{{{ title }}}}</title></head><body><p style="a:b">{LETTER}</p></body></html>'
)
REACT = (
    '<!doctype html>\n<html lang="en"><head><link rel="icon" href="/favicon.ico"><title>App</title></head><body>'
    f'<noscript>You need to enable JavaScript to run this app. {LETTER}</noscript><div id="root"></div></body></html>'
)
SHELL = (
    '<!DOCTYPE html><html><head><script type="module" src="https://example.org/main.js"></script></head>'
    f"<body><app-root>{LETTER}</app-root></body></html>"
)
SITE = (
    f'<!DOCTYPE html><html><head><link href="css/site.css" rel="stylesheet"></head><body><p>{LETTER}</p></body></html>'
)
GAME = f"<!DOCTYPE html><html><body><p>{LETTER}</p><script>let lives = 3</script></body></html>"
VUE = f'<!DOCTYPE html><html><body><p v-if="let">{LETTER}</p></body></html>'
PARTIAL = f'<div style="margin:0"><p style="margin:0">{LETTER}</p></div>'
STUB = "<!DOCTYPE html><html><head><title>Pev</title></head><body><h1>Hello</h1><p>It works!</p></body></html>"


@pytest.mark.parametrize(
    "page", [GOOGLE_DOCS, WORD, MAIL, NOTES, FIREFOX], ids=["Google Docs", "Word", "mail", "notes", "Firefox"]
)
def test_pages_that_people_read_are_documents(page: str) -> None:
    head = page.encode()[:HEAD_BYTES]
    assert (kind_of(head), is_document(head)) == (FileKind("html"), True)


@pytest.mark.parametrize(
    "source",
    [DJANGO, BASE, REACT, SHELL, SITE, GAME, VUE, PARTIAL, STUB],
    ids=["template", "base template", "React", "shell", "site", "game", "Vue", "partial", "stub"],
)
def test_sources_of_web_projects_are_texts(source: str) -> None:
    head = source.encode()[:HEAD_BYTES]
    assert (kind_of(head), is_document(head)) == (FileKind(), False)


@pytest.mark.slow
def test_hostile_beginnings_are_looked_at_within_limits() -> None:
    pieces = ["<!--", "<script", "<!-", "<a ", "<a v", "<p style=", "<?xml ", "<", " ", "-"]
    heads = [
        f"{before}{piece * HEAD_BYTES}"
        for before in ("", "<!DOCTYPE html>", "<!doctype html><body>")
        for piece in pieces
    ]
    within(
        0.5,
        20,
        "tests.work.each",
        "runs.documents.file_kinds.kind_of",
        [(head[:HEAD_BYTES].encode(),) for head in heads],
    )
