"""Help, glossary, and the words that pages explain in a fold."""

import re
from pathlib import Path

import pytest
from django.test import Client

from pevsite.installation import version
from runs.web.help.help_pages import TERMS
from tests.installation import ROOT


def test_every_page_leads_to_help_which_says_the_version(alice_client: Client) -> None:
    footer = alice_client.get("/").text.split("<footer")[1]
    assert '<a href="/help/">Help</a> · <a href="/help/glossary/">Glossary</a>' in footer
    assert version() not in footer
    assert f"This is pevsite {version()}." in alice_client.get("/help/").text


def test_the_version_is_the_one_that_the_changelog_begins_with() -> None:
    newest = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert version().partition(".dev")[0] == newest


def test_the_glossary_explains_every_word_once(alice_client: Client) -> None:
    text = alice_client.get("/help/glossary/").text
    ids = re.findall(r'<div id="([a-z-]+)"><dt>', text)
    assert ids == list(TERMS)
    assert len({term.word for term in TERMS.values()}) == len(TERMS)


def test_no_word_of_the_engine_is_left(alice_client: Client) -> None:
    """Those that the pages do not say any more."""
    text = (alice_client.get("/help/").text + alice_client.get("/help/glossary/").text).casefold()
    old = ["waits for a person", "accepted with issues", "exhausted", "taken over", "digest", " gap", "tool rounds"]
    assert [word for word in old if word in text] == []


def test_help_says_what_leaves_the_machine(alice_client: Client) -> None:
    assert "are sent to the service named above" in alice_client.get("/help/").text


def test_without_a_model_nothing_leaves_it(alice_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    text = alice_client.get("/help/").text
    assert "Without a model nothing leaves the machine" in text
    assert "are sent to the service" not in text


def test_words_are_explained_beside_them(alice_client: Client) -> None:
    used = {
        key
        for path in Path(ROOT / "templates").rglob("*.html")
        for key in re.findall(r'\{% term "([\w-]+)" %\}', path.read_text())
        if path.name != "term.html"
    }
    assert used - set(TERMS) == set()
    assert used >= {"yield", "recovered", "confidence", "criterion"}


def test_help_says_what_programs_of_people_may_do(alice_client: Client) -> None:
    text = alice_client.get("/help/").text
    section = text[text.index('id="programs"') : text.index('id="keys-title"')]
    links = re.findall(r'href="([^"]+)"', section)
    assert links == ["/help/glossary/#mcp", "/access-tokens/", "/api/docs/"]
    assert "Over MCP it decides nothing." in section
    assert {"access-token", "mcp"} <= set(TERMS)
    assert "/help/#programs" in alice_client.get("/access-tokens/").text


def test_keys_of_the_help_are_those_of_the_scripts() -> None:
    """Each key in the table is listened to by a script."""
    scripts = "".join(path.read_text() for path in (ROOT / "static" / "js").rglob("*.js"))
    rows = (ROOT / "templates" / "help" / "help.html").read_text()
    letters = {key for key in re.findall(r"<kbd>(\S+?)</kbd>", rows) if re.fullmatch(r"[a-z/]", key)}
    assert letters == {"a", "j", "k", "n", "p", "r", "/"}
    missing = [key for key in letters if f'"{key}"' not in scripts and not re.search(rf"[{{ ]{key}: ", scripts)]
    assert missing == []
