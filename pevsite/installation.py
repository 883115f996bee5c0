"""Owns the data folder of an installation: where it is, and the key that is made on first start."""

import os
import secrets
import tempfile
from pathlib import Path


def data_dir(default: Path) -> Path:
    """The data folder, made if need be, closed to other users. `PEV_DATA_DIR` names another one."""
    folder = Path(os.environ.get("PEV_DATA_DIR") or default).expanduser().resolve()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def secret_key(folder: Path) -> str:
    """The installation's key: read, or made with mode 600. Two processes that start at once agree on one."""
    path = folder / "secret.key"
    if not path.exists():
        handle, draft = tempfile.mkstemp(dir=folder, prefix="secret.key.")  # a name that no killed process has left
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(50))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            Path(draft).unlink()
    return path.read_text()
