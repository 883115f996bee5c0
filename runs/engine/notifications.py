"""Which work items this process was notified of and has not performed yet: a second notification is dropped."""

import threading


class Notifications:
    """Kept while an engine runs in this process. Elsewhere nothing is dropped: somebody else performs the items."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: set[int] | None = None

    def start(self) -> None:
        """Begin with none. What an engine before this one left is forgotten."""
        with self._lock:
            self._under_way = set()

    def stop(self) -> None:
        with self._lock:
            self._under_way = None

    def is_first(self, work_id: int) -> bool:
        """Whether this item has to be enqueued. False until it is `done` when it was asked before."""
        with self._lock:
            if self._under_way is None:
                return True
            if work_id in self._under_way:
                return False
            self._under_way.add(work_id)
            return True

    def done(self, work_id: int) -> None:
        """The next notification of this item counts again."""
        with self._lock:
            if self._under_way is not None:
                self._under_way.discard(work_id)


notifications = Notifications()
