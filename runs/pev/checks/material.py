"""The input of checks, and their results."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from runs.contracts.base import RESULT
from runs.contracts.ports import ToolResult
from runs.documents.content import text_of
from runs.errors import InvalidInput
from runs.evidence.citations.citation import Library
from runs.text.paths import clean_path, selected

MAX_ITEMS = 100_000
"""Items or quoted passages that are looked up. No one has dealt with a longer list."""
LISTED = 10
"""Items that a sentence lists: enough to show what is meant, and few enough to keep a critique short."""


@dataclass(frozen=True)
class CheckResult:
    """The result of a check: whether it holds, a sentence that continues the file's name, and the place (as in
    Evidence).

    `outside`: the result was compared with given files. `observed`: it was compared with what tools have shown, but
    with no given file. `quote`: the words that show it.
    """

    holds: bool
    sentence: str
    line: int = 0
    start: int = 0
    end: int = 0
    outside: bool = False
    observed: bool = False
    quote: str = ""


@dataclass(frozen=True)
class CheckInput:
    """The files that checks examine.

    * `files`: the files after the attempt, by path, read lazily.
    * `given`: the files of the task as they were given.
    * `read_whole`: the given files of which executors of the run were shown every line.
    * `command`: runs a command by name on these files, with an error as the result if it fails; None if commands are
      not run.
    * `library`: what citations may refer to in addition to these files, such as web pages.
    """

    files: Mapping[str, bytes]
    given: Mapping[str, bytes] = field(default_factory=dict)
    read_whole: Set[str] = frozenset()
    command: Callable[[str], ToolResult] | None = None
    library: Library | None = None

    def text(self, name: str) -> str:
        """Returns the text of a source. Raises InvalidInput with a sentence if there is none."""
        return self.content(name)[1]

    def content(self, name: str) -> tuple[bytes, str]:
        """Returns the readable bytes of a source and its text. Raises InvalidInput with a sentence if there is none."""
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
        """Whether the name means a file as it was given."""
        return name in self.given

    def names(self) -> list[str]:
        """Returns all sources: given files, files that the run has made, and the current version of
        each as `@result/`.
        """
        made = [path for path in self.files if path not in self.given]
        return [*self.given, *made, *(RESULT + path for path in self.files)]

    def matching(self, pattern: str) -> list[str]:
        """Returns the sources that match a pattern, in order."""
        if pattern.startswith(RESULT):
            return [RESULT + path for path in matching(pattern.removeprefix(RESULT), self.files)]
        return [
            *matching(pattern, self.given),
            *(path for path in matching(pattern, self.files) if path not in self.given),
        ]


def matching(pattern: str, paths: Mapping[str, object]) -> list[str]:
    """The paths that a pattern means, sorted: the pattern itself if it is a path, else `selected` decides."""
    return [pattern] if pattern in paths else sorted(selected([pattern], paths))


def list_in_words(items: list[str], limit: int = LISTED) -> str:
    """Returns the first items, at most so many, and how many more there are."""
    more = len(items) - limit
    return ", ".join(items[:limit]) + (f" and {more:,} more" if more > 0 else "")


def at_most[T](items: Iterable[T], what: str) -> Iterator[T]:
    """Yields the items. Raises InvalidInput after `MAX_ITEMS`; `what` names them."""
    for number, item in enumerate(items):
        if number == MAX_ITEMS:
            raise InvalidInput(f"is not compared: there are more than {MAX_ITEMS:,} {what}")
        yield item


def clean_pattern(pattern: str) -> None:
    """Raises InvalidInput for an impossible pattern of paths, or one with too many wildcards."""
    path = pattern.removeprefix(RESULT)
    clean_path(path.removesuffix("/"))
    selected([path], ())
