"""What checks are held against, and what comes out of one."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from runs.contracts.base import RESULT
from runs.contracts.ports import ToolResult
from runs.documents.content import text_of
from runs.errors import InvalidInput
from runs.evidence.citations.citation import Library
from runs.text.path_patterns import selected
from runs.text.paths import clean_path

MAX_ITEMS = 100_000
"""Items that are looked for, or quoted passages; no one has dealt with a longer list."""
LISTED = 10
"""Of what a check found: enough to see what is meant, and a critique stays short."""


@dataclass(frozen=True)
class CheckResult:
    """Whether the check holds, the sentence after the name of the file, and where to look (as in Evidence). `outside`:
    whether the result was compared with files that were given; `observed`: with what tools have shown and no such file.
    `quote`: what shows it, in its own words.
    """

    held: bool
    sentence: str
    line: int = 0
    start: int = 0
    end: int = 0
    outside: bool = False
    observed: bool = False
    quote: str = ""


@dataclass(frozen=True)
class CheckInput:
    """`files`: what there is after the attempt; `given`: the files of the task as they were handed in, both path to
    readable bytes, read lazily. `read_whole`: the given files of which the executors of the run were shown every line.
    `command` runs one by its name on these files: its result is an error where it did not succeed. None where nothing
    is run. `library`: what citations lead to, where that is more than these files, such as pages of the web.
    """

    files: Mapping[str, bytes]
    given: Mapping[str, bytes] = field(default_factory=dict)
    read_whole: Set[str] = frozenset()
    command: Callable[[str], ToolResult] | None = None
    library: Library | None = None

    def text(self, name: str) -> str:
        """The text of a source. Raises InvalidInput with a sentence where there is none."""
        return self.content(name)[1]

    def content(self, name: str) -> tuple[bytes, str]:
        """What can be read of a source, and its text. Raises InvalidInput with a sentence where there is none."""
        if not self.has(name):
            raise InvalidInput(f"{name} does not exist")
        data = self.given[name] if self.is_given(name) else self.files[name.removeprefix(RESULT)]
        text = text_of(data)
        if text is None:
            raise InvalidInput(f"{name} is not a text file")
        return data, text

    def has(self, name: str) -> bool:
        return self.is_given(name) or name.removeprefix(RESULT) in self.files

    def is_given(self, name: str) -> bool:
        """Whether the name, as it is, means a file as it was handed in."""
        return name in self.given

    def names(self) -> list[str]:
        """Every source: the given files, those that the run has made, and what it has left of each by `@result/`."""
        made = [path for path in self.files if path not in self.given]
        return [*self.given, *made, *(RESULT + path for path in self.files)]

    def matching(self, pattern: str) -> list[str]:
        """The sources that a pattern means, in order. There may be none."""
        if pattern.startswith(RESULT):
            return [RESULT + path for path in matching(pattern.removeprefix(RESULT), self.files)]
        return [
            *matching(pattern, self.given),
            *(path for path in matching(pattern, self.files) if path not in self.given),
        ]


def matching(pattern: str, paths: Mapping[str, object]) -> list[str]:
    """The paths that a pattern means, sorted: the pattern itself if it is a path, else `selected` decides."""
    return [pattern] if pattern in paths else sorted(selected([pattern], paths))


def listed(items: list[str]) -> str:
    """The first items, and how many more there are."""
    more = len(items) - LISTED
    return ", ".join(items[:LISTED]) + (f" and {more:,} more" if more > 0 else "")


def at_most[T](items: Iterable[T], what: str) -> Iterator[T]:
    """Yields the items. Raises InvalidInput after `MAX_ITEMS`, with `what` they are."""
    for number, item in enumerate(items):
        if number == MAX_ITEMS:
            raise InvalidInput(f"is not compared: there are more than {MAX_ITEMS:,} {what}")
        yield item


def clean_pattern(pattern: str) -> None:
    """Raises InvalidInput for a pattern of paths that cannot be, or that has too many wildcards to be followed."""
    path = pattern.removeprefix(RESULT)
    clean_path(path.removesuffix("/"))
    selected([path], ())
