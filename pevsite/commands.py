"""What an administrator lets models run, as one variable names it."""

import re
import shlex
from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def commands(text: str) -> Mapping[str, tuple[str, ...]]:
    """Name to arguments, of a text such as `tests: pytest -q; lint: ruff check .`. No shell reads them.

    Raises ImproperlyConfigured, with a sentence for whoever starts pevsite, for what cannot be read so.
    """
    found = dict[str, tuple[str, ...]]()
    for part in filter(str.strip, text.split(";")):
        name, colon, line = part.strip().partition(":")
        try:
            argv = tuple(shlex.split(line))
        except ValueError:
            argv = ()
        if not (colon and argv and _NAME.fullmatch(name.strip())) or name.strip() in found:
            raise ImproperlyConfigured(
                f"PEV_COMMANDS cannot be read at “{part.strip()[:60]}”. Write it as in “tests: pytest -q; lint: ruff "
                "check .”: each name once, in small letters."
            )
        found[name.strip()] = argv
    return found
