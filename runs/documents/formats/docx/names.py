"""Names in the XML of Word, and how its values are read."""

from collections.abc import Iterator

from runs.documents.reading.package_parts import Element, whole_number

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
VAL = f"{W}val"
_OFF = frozenset({"0", "false", "off", "none"})


def val(element: Element | None) -> str | None:
    """The value of a property; None without one."""
    return None if element is None else element.get(VAL)


def number(element: Element | None, default: int = 0, *, high: int = 1_000_000) -> int:
    return whole_number(val(element), default, high=high)


def is_on(element: Element | None) -> bool:
    """A property that is there is on, unless it says otherwise."""
    return element is not None and element.get(VAL, "true") not in _OFF


def switch(element: Element | None) -> bool | None:
    """On, off, or nothing said."""
    return None if element is None else is_on(element)


def chosen(alternatives: Element) -> Element | None:
    """Of contents that stand for each other, the one that newer programs show: each is there once only."""
    for name in ("Choice", "Fallback"):
        if (found := alternatives.find(f"{MC}{name}")) is not None:
            return found
    return None


def outermost(element: Element, *tags: str) -> Iterator[Element]:
    """Those of the elements inside that are in no other of them, and in no alternative that is not shown."""
    waiting = [element]
    while waiting:
        one = waiting.pop()
        if one.tag in tags:
            yield one
        elif one.tag == f"{MC}AlternateContent":
            waiting += [] if (choice := chosen(one)) is None else [choice]
        else:
            waiting += reversed(list(one))
