"""Files that take long are made outside the requests for them: a thread makes each one once, for everybody."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from runs.errors import PevError

WAIT_SECONDS = 5.0
"""Seconds that a request waits for a file before it redirects to a page that shows the progress."""
MAX_WAITING = 20
"""Files that are being made or wait for it."""
MAX_AT_ONCE = 2
"""Files that are made at once. The other turns of isolated calls are for checks and long texts."""
MAX_BYTES = 64_000_000
"""Bytes of files that are kept. The least recently used are dropped first, and failures with them."""


class Busy(PevError):
    """Too many files are being made. The text says what to do."""


class Prepared:
    """A file that is made, or will be. `problem` is a sentence if that failed."""

    def __init__(self) -> None:
        self.data = b""
        self.problem = ""
        self._begun = time.monotonic()
        self._over = threading.Event()

    @property
    def done(self) -> bool:
        return self._over.is_set()

    @property
    def seconds(self) -> int:
        """Seconds since it was first requested."""
        return round(time.monotonic() - self._begun)

    def make(self, maker: Callable[[], bytes]) -> None:
        try:
            with _turns:
                self.data = maker()
        except PevError as error:
            self.problem = str(error)
        finally:
            self.problem = self.problem if self.data else self.problem or "It could not be made."
            self._over.set()

    def wait(self, seconds: float) -> None:
        self._over.wait(seconds)


_turns = threading.BoundedSemaphore(MAX_AT_ONCE)
_lock = threading.Lock()
_files: OrderedDict[str, Prepared] = OrderedDict()


def prepare(key: str, maker: Callable[[], bytes], *, wait: float | None = None) -> Prepared:
    """The file of this key, finished or in progress after `wait` seconds. `maker` raises PevError, and uses no
    database. Raises Busy.
    """
    with _lock:
        found = _files.get(key)
        if found is None or (found.done and found.problem):
            if sum(1 for one in _files.values() if not one.done) >= MAX_WAITING:
                raise Busy("Too many reports are being made at once. Try again in a minute.")
            found = _files[key] = Prepared()
            threading.Thread(target=found.make, args=(maker,), name="report", daemon=True).start()
        _files.move_to_end(key)
        _drop()
    found.wait(WAIT_SECONDS if wait is None else wait)
    return found


def _drop() -> None:
    done = [(key, one) for key, one in _files.items() if one.done]
    kept = sum(len(one.data) for _, one in done)
    for key, one in done:
        if kept <= MAX_BYTES and len(_files) <= 10 * MAX_WAITING:
            return
        kept -= len(one.data)
        del _files[key]
