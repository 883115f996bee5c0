"""The data folder of an installation: where it is, and the key in it, which is made by the command that starts."""

import os
import secrets
import tempfile
from pathlib import Path

KEY_FILE = "secret.key"


def data_dir() -> Path:
    """The data folder, which need not exist: `.data` beside this package, or what `PEV_DATA_DIR` names."""
    return Path(os.environ.get("PEV_DATA_DIR") or Path(__file__).parent.parent / ".data").expanduser().resolve()


def prepare(folder: Path) -> None:
    """Make the folder, closed to other users, and its key with mode 600. Processes that start at once agree on one."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / KEY_FILE
    if path.exists() or os.environ.get("PEV_SECRET_KEY"):
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


def secret_key(folder: Path) -> str:
    """The key from `PEV_SECRET_KEY` or the folder; where nothing was prepared one that lives as long as the process.

    What such a process signs no one accepts later: commands that check or draw need a key, and use none.
    """
    if given := os.environ.get("PEV_SECRET_KEY"):
        return given
    try:
        return (folder / KEY_FILE).read_text()
    except FileNotFoundError:
        return _new_key()


def _new_key() -> str:
    return secrets.token_urlsafe(50)
