"""The version of an installation, and its data folder: where it is, who may read it, and its key."""

import os
import secrets
import shlex
import stat
import tempfile
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).parent
IS_CHECKOUT = (_PACKAGE.parent / "manage.py").is_file()
"""Whether this is a checkout. Otherwise it is an installed package, which contains templates and styles."""
SITE = _PACKAGE.parent if IS_CHECKOUT else _PACKAGE
"""The folder of `templates` and `static`."""
PROGRAM = "manage.py" if IS_CHECKOUT else "pevsite"
"""The name of the command line in sentences."""
KEY_FILE = "secret.key"
_OWN_NAMES = ("pevsite.sqlite3", KEY_FILE, "blobs", "pages")
"""The beginnings of the names in a data folder. Next to the database are `-wal`, `-shm` and `-migrating`."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class UnsafeFolder(Exception):
    """The data folder cannot be closed to other users. The text is a sentence for the person who starts pevsite."""


@cache
def version() -> str:
    """The version of this copy: of the project file in a checkout, or of the installed package."""
    if not IS_CHECKOUT:
        return metadata.version("pevsite")
    return str(tomllib.loads((SITE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def usual_data_dir() -> Path:
    """The data folder where no variable names one: `.data` in a checkout; for an installed package, where the system
    keeps the data of programs for this user.
    """
    return SITE / ".data" if IS_CHECKOUT else platformdirs.user_data_path("pevsite", appauthor=False)


def is_usual(folder: Path) -> bool:
    """Whether commands find this data folder without an option."""
    return folder == usual_data_dir().resolve()


def data_option(folder: Path) -> str:
    """The option with which a command finds this data folder, quoted, after a space; empty if none is needed."""
    return "" if is_usual(folder) else f" --data-dir {shlex.quote(str(folder))}"


def prepare(folder: Path, *, with_key: bool = True) -> None:
    """Make the folder, closed to other users, and its key with mode 600. Processes that start at once agree on one.

    `with_key`: without it no key is made, since the environment has one.

    What an installation keeps there is closed too, and so is every file that this process makes from now on. Raises
    UnsafeFolder, with nothing changed but the modes of files, for a folder that cannot be closed.
    """
    os.umask(_OTHERS)  # the database and its journals are made by SQLite, with what the process leaves open
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _close(folder)
    except OSError as error:
        raise UnsafeFolder(
            f"The data folder {folder} cannot be made or closed to other users ({error.strerror}). Name a folder "
            "that you own with --data-dir or PEV_DATA_DIR."
        ) from error
    path = folder / KEY_FILE
    if not with_key or has_key(folder):
        return
    handle, draft = tempfile.mkstemp(dir=folder, prefix=f"{KEY_FILE}.")  # a name that no killed process has left
    with os.fdopen(handle, "w") as file:
        file.write(_new_key())
    try:
        os.link(draft, path)  # unlike a rename it leaves the key of a process that was here first
    except FileExistsError:
        pass
    finally:
        Path(draft).unlink()


def _close(folder: Path) -> None:
    """Remove all rights of other users from the data folder and the files in it. Raises UnsafeFolder."""
    if os.name != "posix":
        return
    found = folder.stat()
    if found.st_uid != os.geteuid():
        raise UnsafeFolder(
            f"The data folder {folder} belongs to another user, who could read everything in it. Start pevsite as "
            "that user, or name a folder of your own with --data-dir or PEV_DATA_DIR."
        )
    was_open = bool(found.st_mode & _OTHERS)
    entries = list(folder.iterdir())
    own = [entry for entry in entries if entry.name.startswith(_OWN_NAMES)]
    if was_open and entries and not own:  # such as /tmp, or a home: closing it would break what others do there
        raise UnsafeFolder(
            f"The data folder {folder} is open to other users and holds other things than an installation. Name a "
            "folder of its own with --data-dir or PEV_DATA_DIR, or close this one (chmod 700)."
        )
    _close_one(folder)
    for entry in own:
        # below a closed folder no one could change a mode: blobs are looked through only when it was open
        for path in _tree(entry) if was_open else [entry]:
            _close_one(path)


def _tree(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir() and not path.is_symlink():
        for inner in path.iterdir():
            yield from _tree(inner)


def _close_one(path: Path) -> None:
    """Raises UnsafeFolder if the file system does not store modes."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode) or not mode & _OTHERS:
            return
        path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
        if path.lstat().st_mode & _OTHERS:
            raise UnsafeFolder(
                f"{path} stays open to other users: this file system keeps no modes. Name a data folder on another "
                "one with --data-dir or PEV_DATA_DIR."
            )
    except FileNotFoundError:  # a journal of SQLite, or another process's draft of the key
        return


def has_key(folder: Path) -> bool:
    """Whether the folder has a key. Then other processes accept what this one signs, now and later."""
    return (folder / KEY_FILE).exists()


def key_of(folder: Path) -> str:
    """The key in the folder. Without one, a key that lives as long as the process.

    No other process accepts what is signed with that: commands that only check or draw need a key, and use none.
    """
    try:
        return (folder / KEY_FILE).read_text()
    except FileNotFoundError:
        return _new_key()


def _new_key() -> str:
    return secrets.token_urlsafe(50)
