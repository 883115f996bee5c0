"""Version stores under every spelling, what tools obey unasked, and what usually holds secrets."""

import re
from pathlib import Path

import pytest

from runs.text.sensitive_names import (
    SECRET_FILES,
    SECRET_FOLDERS,
    SECRETS,
    is_obeyed,
    is_private_key,
    is_version_store,
    secret_part,
)

STORES = [
    ".git/config",
    ".git/hooks/post-checkout",
    "a/.GIT/config",
    ".git.",
    ".git ",
    ".g\u200cit/config",
    "\ufeff.git",
    "git~1/config",
    "GIT~2",
    ".git::$INDEX_ALLOCATION/config",
    ".hg/hgrc",
    ".svn/x",
]
OBEYED = [
    ".envrc",
    ".bashrc",
    "sub/.zshenv",
    ".vscode/tasks.json",
    ".husky/pre-commit",
    ".npmrc",
    ".env",
    ".gitattributes",
    "desktop.ini",
    "AutoRun.inf",
    "x/Report.lnk",
    "a.desktop",
    "sitecustomize.py",
    "lib/evil.pth",
    "mise.toml",
]
ORDINARY = [
    "report.md",
    "git/config",
    "gitignore",
    ".gitignore",
    ".github/workflows/ci.yml",
    ".env.example",
    ".env.local.sample",
    ".editorconfig",
    "a.b/c.d",
    "env",
    "notes/…/x",
    "path.py",
]


@pytest.mark.parametrize("path", STORES)
def test_a_version_store_is_known_by_every_spelling(path: str) -> None:
    assert (is_version_store(path), is_obeyed(path)) == (True, True)


@pytest.mark.parametrize("path", OBEYED)
def test_what_tools_obey_unasked_is_known(path: str) -> None:
    assert (is_version_store(path), is_obeyed(path)) == (False, True)


@pytest.mark.parametrize("path", ORDINARY)
def test_ordinary_files_are_not(path: str) -> None:
    assert (is_version_store(path), is_obeyed(path)) == (False, False)


@pytest.mark.parametrize(
    ("path", "part"),
    [
        (".env", ".env"),
        ("app/.env.local", "app/.env.local"),
        ("app\\.ENV", "app/.ENV"),
        ("prod.env", "prod.env"),
        (".e\u200bnv", ".e\u200bnv"),
        (".env.", ".env."),
        ("home/.ssh/id_rsa", "home/.ssh/"),
        (".ssh/known_hosts", ".ssh/"),
        ("x/.Git/config", "x/.Git/"),
        ("submodule/.git", "submodule/.git"),
        (".aws/credentials", ".aws/"),
        ("keys/server.PEM", "keys/server.PEM"),
        ("id_ed25519", "id_ed25519"),
        (".npmrc", ".npmrc"),
        (".bash_history", ".bash_history"),
        ("gcp/service-account-7.json", "gcp/service-account-7.json"),
    ],
)
def test_what_usually_holds_secrets_is_known(path: str, part: str) -> None:
    assert secret_part(path) == part


@pytest.mark.parametrize(
    "path",
    [
        *(".env.example", ".env.local.sample", "app/.env.template", ".github/workflows/ci.yml", ".gitignore"),
        *("environment.md", "env", "my.env.md", "id_rsa.pub", "ssh/config", "credentials.md", "deck.key", ".ssh"),
    ],
)
def test_examples_and_other_files_stay(path: str) -> None:
    assert secret_part(path) == ""


def test_the_lists_stand_in_the_documentation() -> None:
    text = (Path(__file__).parents[3] / "docs/operating.md").read_text("utf-8")
    section = text.split("## What is left out of folders")[1].split("\n## ")[0]
    folders, files = (set(re.findall(r"`([^`]+)`", part)) for part in section.split("* ")[1:3])
    assert (folders, files) == (set(SECRET_FOLDERS), set(SECRET_FILES))


def test_browsers_are_given_no_syntax_that_they_do_not_know() -> None:
    assert not re.search(r"\(\?[P<#]|\\[AZ]|\(\?[aimsux]", SECRETS)


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", True),
        (b"\n-----BEGIN PRIVATE KEY-----", True),
        (b"-----BEGIN PGP PRIVATE KEY BLOCK-----", True),
        (b"-----BEGIN CERTIFICATE-----", False),
        (b"# About\n-----BEGIN PRIVATE KEY-----", False),
        (b"", False),
    ],
)
def test_a_private_key_is_known_by_how_it_begins(data: bytes, key: bool) -> None:
    assert is_private_key(data) is key
