"""File names that need care: version stores, files that tools obey without being asked, and usual places of secrets."""

import fnmatch
import re
import unicodedata

import regex

from runs.text.ignorable import UNSEEN

HARMLESS = frozenset(
    {
        ".github",
        ".gitignore",
        ".gitkeep",
        ".dockerignore",
        ".editorconfig",
        ".nojekyll",
        ".well-known",
    }
)
"""Names with a leading dot that no tool runs or obeys when a folder is merely entered, listed or opened."""
OBEYED = (
    "autorun.inf",
    "desktop.ini",
    "*.desktop",
    "*.lnk",
    "*.pth",
    "*.scf",
    "*.url",
    "mise.toml",
    "sitecustomize.py",
    "usercustomize.py",
)
"""Names without a leading dot that shells, file managers or interpreters act on by themselves."""
SECRET_FOLDERS = (
    *(".aws", ".azure", ".docker", ".gcloud", ".gnupg", ".kube", ".password-store", ".ssh", ".terraform"),
    *(".bzr", ".git", ".hg", ".svn"),  # with passwords for where it came from, and all that was ever deleted
)
SECRET_FILES = (
    *(".env", ".env.*", "*.env", ".envrc"),
    *(
        ".boto",
        ".dockercfg",
        ".git",
        ".git-credentials",
        ".htpasswd",
        ".my.cnf",
        ".netrc",
        ".npmrc",
        ".pgpass",
        ".pypirc",
    ),
    *(".s3cfg", ".vault-token", ".*_history", "_netrc"),
    *("id_dsa", "id_ecdsa", "id_ed25519", "id_rsa", "*.jks", "*.kdbx", "*.keystore", "*.p12", "*.pem", "*.pfx"),
    *("*.ppk", "client_secret*.json", "credentials", "credentials.json", "secret.key", "secrets.json"),
    *("secrets.toml", "secrets.yaml", "secrets.yml", "service-account*.json", "service_account*.json"),
    *("*.tfstate", "*.tfvars", "wallet.dat"),
)
"""Left out of folders unless a person names them. Capitals do not count; `.env.example` and its like stay."""
_EXAMPLE = re.compile(r"\.env[-.\w]*\.(?:example|sample|template|dist)")
_SHORT_NAME = re.compile(r"git~\d+")
INVISIBLE = regex.compile(f"[{UNSEEN}]")
"""Characters of a name that are invisible."""


_LOCKS = r"~\$[^/]+\.[a-z]{3,4}|\.~lock\.[^/]+"
JUNK = (
    r"(^|/)(\.git|\.hg|\.svn|node_modules|__pycache__|\.venv|__MACOSX|\._[^/]+|\.DS_Store|Thumbs\.db|desktop\.ini"
    rf"|{_LOCKS})(/|$)"
)
"""Matches files that folders and archives contain by accident, such as locks of word processors. Browsers use the same
pattern, ignoring case.
"""
_JUNK = re.compile(JUNK, re.IGNORECASE)
_LOCK = re.compile(rf"(?:^|/)(?:{_LOCKS})$", re.IGNORECASE)


def _pattern() -> str:
    folders, files = (
        "|".join(re.escape(name).replace(r"\*", "[^/]*") for name in names) for names in (SECRET_FOLDERS, SECRET_FILES)
    )
    return rf"(?:^|/)(?:(?:{folders})/|(?!{_EXAMPLE.pattern}$)(?:{files})$)"


SECRETS = _pattern()
"""The two lists as a regular expression for whole paths, understood here and by browsers alike; ignore capitals."""
_SECRETS = re.compile(SECRETS, re.IGNORECASE)
MAX_KEY_BYTES = 50_000
"""Larger files are not checked for private keys, because keys are much smaller."""
_PRIVATE_KEY = re.compile(rb"\s*-----BEGIN [A-Z ]{0,40}PRIVATE KEY( BLOCK)?-----")


def secret_part(path: str) -> str:
    """The part of a path by which it usually holds secrets: a folder, with a slash, or the whole path; empty
    for none.
    """
    folded = "/".join(_parts(path))
    found = _SECRETS.search(folded)
    if found is None:
        return ""
    shown = path.replace("\\", "/").split("/")
    depth = folded.count("/", 0, found.end())
    return "/".join(shown[:depth]) + "/" if found[0].endswith("/") else "/".join(shown)


def junk_part(path: str) -> str:
    """The path up to the part that is rarely meant, such as `.git`; empty if there is none."""
    slashed = path.replace("\\", "/")
    found = _JUNK.search(slashed)
    return slashed[: found.end(2)] if found else ""


def is_lock(path: str) -> bool:
    """Whether it is the lock that a word processor puts next to an open document, which only says who has it."""
    return bool(_LOCK.search(path.replace("\\", "/")))


def is_private_key(beginning: bytes) -> bool:
    """Whether a file with this beginning is a private key, whatever its name is."""
    return _PRIVATE_KEY.match(beginning) is not None


def is_version_store(path: str) -> bool:
    """Whether a part of the path is `.git` (`.hg`, `.svn`) on some file system, in any spelling."""
    return any(part in {".git", ".hg", ".svn", ".bzr"} or _SHORT_NAME.fullmatch(part) for part in _parts(path))


def is_obeyed(path: str) -> bool:
    """Whether a tool may run or obey this file without being asked, just because it lies where it lies.

    That is every name with a leading dot but the `HARMLESS` ones and examples such as `.env.example`, and `OBEYED`.
    """
    for part in _parts(path):
        if part.startswith(".") and part not in HARMLESS and not _EXAMPLE.fullmatch(part):
            return True
    return is_version_store(path) or any(fnmatch.fnmatchcase(part, name) for part in _parts(path) for name in OBEYED)


def _parts(path: str) -> list[str]:
    """The parts as the most tolerant file system reads them: without capitals, hidden characters, and dots at
    the end.
    """
    folded = unicodedata.normalize("NFC", INVISIBLE.sub("", path).casefold()).replace("\\", "/")
    return [part.rstrip(". ").partition(":")[0] for part in folded.split("/")]
