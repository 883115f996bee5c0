"""Original pages in a conversation: which are shown next to the text that a turn has read, each once, and how many.

No bytes are here: a block names content and pages, and becomes what models take when the question is sent. So a resumed
attempt asks the same (D3), whatever its server takes.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby

from runs.contracts.base import JsonObject
from runs.contracts.ports import Original
from runs.text.truncate import quoted

PAGES = "pages"
"""The type of the blocks. `path` is the name of the content `sha256` for people. `kind`, `first` and `last` say which
pages to show, and `weight` as how many ordinary pages they count.
"""
NOTE = "pages_note"
"""The type of a block whose `text` is true only if pages are shown."""
MAX_OF_TURN = 20  # pages
MAX_OF_CONVERSATION = 60  # pages
MAX_OF_BLOCK = 5
"""Pages of one block. If a request has too little room, blocks are left out one by one."""
PAGE_TOKENS = 5_000
"""Tokens of an ordinary page at most, as text and as a picture: Claude's documentation has 1,500 to 3,000 for the text,
and 1,600 for the picture. Nothing of it was measured.
"""
_BYTES_OF_PAGE = 6_000
"""Bytes of text of an ordinary page. Budgets count a token for every second byte, so there is room
for the picture too.
"""
MAX_WEIGHT = 4
"""A page with more text than four ordinary ones cannot be read in a picture, and would be sent twice."""
_SHARE = 4
"""Pages take at most a quarter of a known window."""


def weight(size: int | None) -> int:
    """As how many ordinary pages a page with so many bytes of text counts; the maximum if that is unknown."""
    return MAX_WEIGHT if size is None else max(1, -(-size // _BYTES_OF_PAGE))


class Originals:
    """The pages that a conversation has. It depends on the conversation alone, as `Room` does."""

    def __init__(self, window: int | None) -> None:
        fitting = window // _SHARE // PAGE_TOKENS if window else MAX_OF_CONVERSATION
        self._most = min(MAX_OF_CONVERSATION, fitting)
        self._has = dict[tuple[str, int], int]()

    def blocks(self, read: Sequence[Original]) -> list[JsonObject]:
        """A block for each few pages that a turn has read and that the conversation does not have yet."""
        new = [one for one in dict.fromkeys(read) if (one.sha256, one.page) not in self._has]
        dense = [one for one in new if weight(one.size) > MAX_WEIGHT]
        new = [one for one in new if weight(one.size) <= MAX_WEIGHT]
        room = min(MAX_OF_TURN, self._most - sum(self._has.values()))
        fitting = [
            one for one, taken in zip(new, accumulate(weight(one.size) for one in new), strict=True) if taken <= room
        ]
        self._has |= {(one.sha256, one.page): weight(one.size) for one in fitting}
        blocks = [_block(some) for some in _runs(fitting)]
        if dense:
            text = f"Only their text is here of {_names_of(dense)}: there is too much of it for a picture of a page."
            blocks.append({"type": NOTE, "text": text})
        if left := new[len(fitting) :]:
            limit = f"{MAX_OF_TURN} pages in one turn, and {self._most} in a conversation"
            places_left = self._most - sum(self._has.values())
            again = "Read them again in another turn to see them. " if weight(left[0].size) <= places_left else ""
            text = f"Only their text is here of {_names_of(left)}: at most {limit} are shown as they look. {again}"
            blocks.append({"type": NOTE, "text": text.strip()})
        return blocks

    def forget(self) -> None:
        """The conversation begins again."""
        self._has.clear()


def tokens_in(messages: Sequence[JsonObject]) -> int:
    """How many tokens the pages of a conversation take at most."""
    return PAGE_TOKENS * sum(int(str(block["weight"])) for block in page_blocks(messages))


def page_blocks(messages: Sequence[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        content = message["content"]
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == PAGES:
                yield block


def pages_of(block: JsonObject) -> range:
    """The pages of a block."""
    ends = block["first"], block["last"]
    first, last = (end for end in ends if isinstance(end, int))  # all blocks are made here
    return range(first, last + 1)


def title_of(block: JsonObject) -> str:
    """The name of its pages for people."""
    return _title(str(block["path"]), pages_of(block))


def one_by_one(block: JsonObject) -> list[JsonObject]:
    """A block for each of its pages."""
    return [{**block, "first": number, "last": number} for number in pages_of(block)]


def _runs(pages: Sequence[Original]) -> Iterator[Sequence[Original]]:
    """Consecutive pages of one content, a few at a time."""
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
        "path": first.path,
        "first": first.page,
        "last": last.page,
        "weight": sum(weight(page.size) for page in pages),
    }


def _names_of(pages: Sequence[Original]) -> str:
    some = _runs(pages[:MAX_OF_TURN])
    return ", ".join(_title(one[0].path, range(one[0].page, one[-1].page + 1)) for one in some)


def _title(path: str, pages: range) -> str:
    numbers = f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]}-{pages[-1]}"
    return f"{quoted(path, 200)}, {numbers}"
