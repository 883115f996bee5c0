"""Comments on slides, as PowerPoint wrote them until 2021 and as it does since."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from runs.documents.formats.package_parts import Element
from runs.documents.formats.pptx.shapes import P, paragraphs


class Comment(NamedTuple):
    text: str
    by: str


def names_in(root: Element | None) -> dict[str, str]:
    """People by their ids."""
    people = root.iter(*_any("cmAuthor", "author")) if root is not None else ()
    return {one.get("id", ""): one.get("name", "") for one in people}


def comments_in(root: Element, names: Mapping[str, str]) -> Iterator[Comment]:
    """Each with its replies behind it."""
    for one in root.iter(*_any("cm", "reply")):
        old = one.find(f"{P}text")
        new = one.find("{*}txBody")
        text = (old.text or "") if old is not None else "\n".join(paragraphs(new)) if new is not None else ""
        if text.strip():
            yield Comment(text.strip(), names.get(one.get("authorId", ""), ""))


def _any(*names: str) -> tuple[str, ...]:
    """These names in whatever namespace: that of the newer form has changed with its versions."""
    return tuple(f"{{*}}{name}" for name in names)
