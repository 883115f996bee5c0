"""What each kind of check declares. A kind is one module of this package, and `registry` finds it.

Fields become the schema that planners are given; their labels become the form of the plan editor. The docstring of a
class is a part of that schema, so it says to models what the check looks for.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, get_args

from runs.contracts.base import RESULT, Contract, Path
from runs.documents.content import digest_of, text_of
from runs.enums import Provenance
from runs.errors import InvalidInput
from runs.evidence.results import Evidence
from runs.pev.checks.material import CheckInput, CheckResult
from runs.text.paths import clean_path
from runs.text.patterns import SECONDS, Budget

COMPARING_SECONDS = 10.0
"""For one check that compares with sources: a list of a million rows takes two."""


@dataclass(frozen=True)
class Label:
    """How the plan editor shows a field. `is_long`: it has room for several lines, and sentences about the check leave
    its text out. `choices`: values, each with its words.
    """

    text: str
    hint: str = ""
    is_long: bool = False
    choices: tuple[tuple[str, str], ...] = ()


def labels_of(contract: type[Contract]) -> dict[str, Label]:
    """The labels of the fields that have one, by the names of the fields."""
    every = contract.model_fields.items()
    return {name: item for name, field in every for item in field.metadata if isinstance(item, Label)}


class Check(Contract):
    """The base class of all kinds."""

    kind: str

    order: ClassVar[int]
    """The place of the kind in lists and in the schema."""
    title: ClassVar[str]
    """Completes “The criterion is met when …”."""
    seconds: ClassVar[float] = SECONDS
    """The time limit."""
    stricter: ClassVar[Mapping[str, Callable[[Any, Any], bool]]] = {}
    """By field, whether a new value asks for at least as much as an old one. Other fields must not change."""
    can_compare: ClassVar[bool] = False
    """Whether checks of this kind compare the result with something else."""
    counts_each: ClassVar[bool] = False
    """Whether it can decide what a criterion says of each of several things."""
    is_quick: ClassVar[bool] = False
    """Whether it looks at one file alone in next to no time: then it is tried each time a step writes the file."""
    limits_size: ClassVar[bool] = False
    """Whether it says how long a file must be, so that the run's own minimum does not apply."""

    @classmethod
    def name(cls) -> str:
        """The value of `kind`."""
        return str(get_args(cls.model_fields["kind"].annotation)[0])

    @property
    @abstractmethod
    def subject(self) -> str:
        """The path, pattern or source that the check is about."""

    @abstractmethod
    def words(self, commands: Mapping[str, str]) -> str:
        """What the check looks for, as a clause for people. `commands`: the command lines by their names."""

    def problem(self) -> str | None:
        """Why a plan must not contain the check. Raises InvalidInput for a path that cannot be."""
        return None

    @abstractmethod
    def decide(self, material: CheckInput, budget: Budget) -> Evidence:
        """Whether it holds, with the figures. Raises InvalidInput with a sentence if that cannot be decided."""

    @property
    def compares(self) -> bool:
        """Whether it compares the result with something else."""
        return self.can_compare

    @property
    def compared_paths(self) -> Sequence[str]:
        """The paths and patterns that it compares the result with, one of which must mean a given file; none where any
        will do.
        """
        return ()

    @property
    def looked_up(self) -> Literal["", "passages", "rows"]:
        """What of the file was found in the sources when the check holds: its quoted passages, or each row."""
        return ""

    @property
    def reads_whole(self) -> str:
        """The pattern of the given files that executors must have read to the end; empty for none."""
        return ""

    @property
    def commands(self) -> Sequence[str]:
        """The names of the administrator's commands that it runs."""
        return ()

    @property
    def long_texts(self) -> dict[str, str]:
        """What `words` leaves out, by the labels of the fields."""
        return {label.text: getattr(self, name) for name, label in labels_of(type(self)).items() if label.is_long}

    def is_as_strict_as(self, other: "Check") -> bool:
        """Whether it asks for at least as much as the other."""
        if type(self) is not type(other):
            return False
        fields = set(self.stricter)
        is_same = self.model_dump(exclude=fields) == other.model_dump(exclude=fields)
        return is_same and all(
            holds(getattr(self, name), getattr(other, name)) for name, holds in self.stricter.items()
        )


class FileCheck(Check):
    """The base class of the kinds that look at one file of the result."""

    path: Annotated[Path, Label("File", "The path as the step writes it, such as review/findings.md")]

    @property
    def subject(self) -> str:
        return self.path

    def decide(self, material: CheckInput, budget: Budget) -> Evidence:
        path = clean_path(self.path.removeprefix(RESULT))
        data = material.files.get(path)
        if data is None:
            return evidence_of(path, None, CheckResult(False, f"{path} does not exist"))
        try:
            found = self.examine(data, material, budget)
        except InvalidInput as error:
            found = CheckResult(False, str(error))
        return evidence_of(path, data, replace(found, sentence=f"{path} {found.sentence}"))

    @abstractmethod
    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        """The result for the file with this content, with a sentence that continues its path. Raises InvalidInput with
        such a sentence, TooSlow among them, where nothing can be told.
        """


def includes(now: Sequence[str], before: Sequence[str]) -> bool:
    """Whether a list still has everything that it had."""
    return set(before) <= set(now)


def text_in(data: bytes) -> str:
    """The text of a file. Raises InvalidInput where it has none."""
    text = text_of(data)
    if text is None:
        raise InvalidInput("is not a text file")
    return text


def evidence_of(source: str, data: bytes | None, found: CheckResult) -> Evidence:
    """The result as evidence about the source with this content."""
    made = Provenance.OBSERVED if found.observed else Provenance.MADE
    return Evidence(
        kind="check",
        source=source,
        verified=found.held,
        sentence=found.sentence,
        sha256="" if data is None else digest_of(data),
        start=found.start,
        end=found.end,
        line=found.line,
        quote=found.quote,
        provenance=Provenance.GIVEN if found.outside else made,
    )
