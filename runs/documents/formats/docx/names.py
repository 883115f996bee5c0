"""Names in Word's XML, and functions to read values."""

from collections.abc import Iterator

from runs.documents.reading.package_parts import Element, whole_number

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
VAL = f"{W}val"
_OFF = frozenset({"0", "false", "off", "none"})


def val(element: Element | None) -> str | None:
    """Returns the value of a property, or None if there is no such property."""
    return None if element is None else element.get(VAL)


def number(element: Element | None, default: int = 0, *, high: int = 1_000_000) -> int:
    return whole_number(val(element), default, high=high)


def is_on(element: Element | None) -> bool:
    """Whether a property is on. A property without a value is on."""
    return element is not None and element.get(VAL, "true") not in _OFF


def switch(element: Element | None) -> bool | None:
    """Returns True, False, or None if the property is absent."""
    return None if element is None else is_on(element)


def chosen(alternatives: Element) -> Element | None:
    """Returns the alternative that newer programs show. All alternatives have the same content, so only one is read."""
    for name in ("Choice", "Fallback"):
        if (found := alternatives.find(f"{MC}{name}")) is not None:
            return found
    return None


def outermost(element: Element, *tags: str) -> Iterator[Element]:
    """Yields elements with these tags that are not inside another of them, or inside an alternative
    that is not shown.
    """
    waiting = [element]
    while waiting:
        one = waiting.pop()
        if one.tag in tags:
            yield one
        elif one.tag == f"{MC}AlternateContent":
            waiting += [] if (choice := chosen(one)) is None else [choice]
        else:
            waiting += reversed(list(one))
