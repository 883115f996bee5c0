"""Documents put together block by block, as the store hands them to the loop."""

import hashlib
from collections.abc import Sequence

from runs.documents.content import Converted
from runs.documents.places.document import Document
from runs.documents.reading.building import Builder


def converted(builder: Builder, unit: str = "", units: int = 0, pictorial: Sequence[int] = ()) -> Converted:
    """The text of what was built, with its places; its file has the bytes of its text, backwards."""
    made = builder.build(unit, units, pictorial)
    data = made.text.encode()
    return Converted(data, hashlib.sha256(data[::-1]).hexdigest(), lambda: Document(made.text, made.rendered.layout))
