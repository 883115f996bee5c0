"""A cache in the memory of this process, limited by the weight of its values."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable


class WeightedCache[T]:
    """Values by key. Above `max_weight`, the values that were not used for the longest time are dropped."""

    def __init__(self, max_weight: int, weight: Callable[[T], int]) -> None:
        self._max_weight, self._weight = max_weight, weight
        self._sum = 0
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, find: Callable[[], T]) -> T:
        """The cached value, or what `find` returns. Two threads may call it for the same key, which only costs time."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value = find()
        weight = self._weight(value)
        with self._lock:
            # Another thread may have stored the key meanwhile: its weight is taken off.
            self._sum += weight - self._values.pop(key, (value, 0))[1]
            self._values[key] = (value, weight)
            while self._sum > self._max_weight:
                self._sum -= self._values.popitem(last=False)[1][1]
        return value
