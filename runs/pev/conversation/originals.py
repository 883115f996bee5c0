"""Original pages in a conversation: which are shown beside the text that a turn has read, each once, and how many.

No bytes are here: a block names content and pages, and becomes what models take when the question is sent. So a resumed
attempt asks the same (D3), whatever its server takes.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from runs.pev.contracts import JsonObject
from runs.pev.ports import Original
from runs.pev.texts.wording import quoted

PAGES = "pages"
"""The type of the blocks. `sha256`, `kind`, `first` and `last` say what to show, `title` what people call it."""
NOTE = "pages_note"
"""The type of a block whose `text` only holds where pages are shown."""
MAX_OF_TURN = 20
MAX_OF_CONVERSATION = 60
MAX_OF_BLOCK = 5
"""What does not fit into a request is left out block by block."""
PAGE_TOKENS = 5_000
"""Of a page at most, as text and as a picture: Claude's documentation has 1,500 to 3,000 for the one, and 1,600 for the
other. Nothing of it was measured.
"""
_SHARE = 4
"""Of a window known pages take a quarter at most."""


class Originals:
    """The pages that a conversation has. It depends on the conversation alone, as `Room` does."""

    def __init__(self, window: int | None) -> None:
        fitting = window // _SHARE // PAGE_TOKENS if window else MAX_OF_CONVERSATION
        self._most = min(MAX_OF_CONVERSATION, fitting)
        self._has = set[tuple[str, int]]()

    def blocks(self, read: Sequence[Original]) -> list[JsonObject]:
        """One for each few pages that a turn has read and that the conversation does not have yet."""
        new = [one for one in dict.fromkeys(read) if (one.sha256, one.page) not in self._has]
        fitting = new[: min(MAX_OF_TURN, self._most - len(self._has))]
        self._has |= {(one.sha256, one.page) for one in fitting}
        blocks = [_block(some) for some in _runs(fitting)]
        if left := new[len(fitting) :]:
            blocks.append({"type": NOTE, "text": self._left_out(left)})
        return blocks

    def forget(self) -> None:
        """The conversation begins again."""
        self._has.clear()

    def _left_out(self, left: Sequence[Original]) -> str:
        named = ", ".join(_title(some) for some in _runs(left[:MAX_OF_TURN]))
        limit = f"{MAX_OF_TURN} pages in one turn, and {self._most} in a conversation"
        again = "Read them again in another turn to see them. " if len(self._has) < self._most else ""
        return f"Only their text is here of {named}: at most {limit} are shown as they look. {again}".strip()


def pages_in(messages: Sequence[JsonObject]) -> int:
    """How many pages are shown in a conversation."""
    return sum(len(pages_of(block)) for block in page_blocks(messages))


def page_blocks(messages: Sequence[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        content = message["content"]
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == PAGES:
                yield block


def pages_of(block: JsonObject) -> range:
    """The pages that a block names."""
    ends = block["first"], block["last"]
    first, last = (end for end in ends if isinstance(end, int))  # all blocks are made here
    return range(first, last + 1)


def _runs(pages: Sequence[Original]) -> Iterator[Sequence[Original]]:
    """Pages of one content that follow each other, a few at a time."""
    for _, group in groupby(enumerate(pages), lambda at: (at[1].sha256, at[1].page - at[0])):
        some = [page for _, page in group]
        for start in range(0, len(some), MAX_OF_BLOCK):
            yield some[start : start + MAX_OF_BLOCK]


def _block(pages: Sequence[Original]) -> JsonObject:
    first, last = pages[0], pages[-1]
    return {
        "type": PAGES,
        "sha256": first.sha256,
        "kind": first.kind,
        "first": first.page,
        "last": last.page,
        "title": _title(pages),
    }


def _title(pages: Sequence[Original]) -> str:
    first, last = pages[0], pages[-1]
    numbers = f"page {first.page}" if len(pages) == 1 else f"pages {first.page}-{last.page}"
    return f"{quoted(first.path, 200)}, {numbers}"
