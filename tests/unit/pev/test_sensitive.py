"""Version stores under every spelling, and what tools obey unasked."""

import pytest

from runs.pev.sensitive import is_obeyed, is_version_store

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
