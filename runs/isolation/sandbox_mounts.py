"""What of the machine a command in the sandbox sees: a list of folders, less what lies hidden in them."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_SYSTEM = ("/usr", "/etc", "/opt", "/nix", "/gnu", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Programs and what they need. Not: folders of people and services, and where sockets lie (/run, /tmp, /var)."""
_MAX_INTERPRETERS = 4
"""A script whose interpreter is a script and so on: the kernel follows as many."""
_MAX_LINE = 256
"""Bytes of a script's first line, as the kernel reads it."""


@dataclass(frozen=True)
class MountView:
    """`folders` besides those of the system; `hidden`: empty wherever they lie in one that is seen."""

    folders: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()

    @property
    def _seen(self) -> list[Path]:
        return [path for path in (*map(Path, _SYSTEM), *self.folders) if path.is_dir()]

    def options(self, *, masks_private: bool) -> Iterator[str]:
        """For bubblewrap. `masks_private`: without what only the server's user may read in /etc, where a command runs
        as that user.
        """
        for path in self._seen:
            if path.is_symlink() and path not in self.folders:
                yield from ("--symlink", str(path.readlink()), str(path))
            else:
                for parent in reversed(path.parents):  # whose rights would be those that they have outside
                    yield from ("--perms", "0755", "--dir", str(parent))
                yield from ("--ro-bind", str(path), str(path))
        private = [*private_in(Path("/etc"))] if masks_private else []
        for path in (*self._covered(), *(one for one in private if one.is_dir())):
            yield from ("--size", "4096", "--tmpfs", str(path), "--remount-ro", str(path))
        sockets = (path for one in _sockets() for path in self._places(one))
        for path in (*sockets, *(one for one in private if not one.is_dir())):
            if self.shows(path):
                yield from ("--ro-bind", "/dev/null", str(path))

    def shows(self, path: Path) -> bool:
        """Whether it is seen, at this path."""
        is_seen = any(path.is_relative_to(folder) for folder in self._seen)
        return is_seen and not any(path.is_relative_to(one) for one in self._covered())

    def _covered(self) -> Iterator[Path]:
        """Hidden folders at each path under which they would be seen."""
        for one in {Path(tempfile.gettempdir()), *self.hidden}:
            if one.is_dir():
                yield from self._places(one.resolve())

    def _places(self, path: Path) -> Iterator[Path]:
        """The paths under which a file or folder would be seen, also through a folder that is a link."""
        for folder in self._seen:
            with suppress(ValueError):
                yield folder / path.relative_to(folder.resolve())

    def problem(self, argv: Sequence[str]) -> str:
        """Why a command cannot be found in the sandbox, as a sentence; empty if it can, or is one of its files."""
        name = argv[0]
        if "/" in name and not name.startswith("/"):
            return ""
        found = shutil.which(name)
        if found is None:
            return f"The program “{name}” is not installed on this machine; its administrator can do that."
        for path in _needed(Path(found)):
            if not self.shows(path):
                return (
                    f"The program “{name}” needs {path}, and commands do not see its folder. The administrator can name"
                    " the folder of all that belongs to it in PEV_COMMAND_FOLDERS."
                )
        return ""


def _needed(program: Path, depth: int = 0) -> Iterator[Path]:
    """The file itself and, of a script, its interpreter: each as it is named and as what it is a link to."""
    yield from (program, program.resolve())
    with suppress(OSError), program.open("rb") as file:
        if file.read(2) == b"#!" and depth < _MAX_INTERPRETERS:
            words = file.readline(_MAX_LINE).decode(errors="replace").split()
            is_env = len(words) > 1 and Path(words[0]).name == "env"
            named = shutil.which(next((word for word in words[1:] if not word.startswith("-")), "")) if is_env else None
            for path in (*words[:1], *([named] if named else [])):
                yield from _needed(Path(path), depth + 1)


def _sockets() -> Iterator[Path]:
    """Unix sockets that services of this machine have made in files: a folder that is read-only does not close them."""
    try:
        lines = Path("/proc/net/unix").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        path = Path(line.split(maxsplit=7)[-1])
        with suppress(OSError):  # it lies where this user may not look
            if path.is_absolute() and path.is_socket():
                yield path.resolve()


def private_in(folder: Path) -> Iterator[Path]:
    """Files and folders there that this user may read and not everyone may."""
    for place, folders, names in os.walk(folder):
        for path in (Path(place, name) for name in [*folders, *names]):
            with suppress(OSError):
                mode = path.lstat().st_mode
                needed = stat.S_IXOTH if stat.S_ISDIR(mode) else 0 if stat.S_ISLNK(mode) else stat.S_IROTH
                if mode & needed != needed and os.access(path, os.R_OK):
                    yield path
                    if stat.S_ISDIR(mode):
                        folders.remove(path.name)
