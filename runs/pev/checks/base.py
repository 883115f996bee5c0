"""The base classes of checks. Each kind is a module of this package, which `registry` finds.

The fields of a check become the schema that planners get, and their labels become the form of the plan editor. The
docstring of the class is part of that schema, so it tells models what the check looks for.
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
"""For a check that compares with sources. A list of a million rows takes two seconds."""


@dataclass(frozen=True)
class Label:
    """How the plan editor shows a field. `is_long`: it is shown with several lines, and sentences about the check omit
    its text. `choices`: values with their labels.
    """

    text: str
    hint: str = ""
    is_long: bool = False
    choices: tuple[tuple[str, str], ...] = ()


def labels_of(contract: type[Contract]) -> dict[str, Label]:
    """Returns the labels of fields by name. Fields without a label are left out."""
    every = contract.model_fields.items()
    return {name: item for name, field in every for item in field.metadata if isinstance(item, Label)}


class Check(Contract):
    """The base class of all checks."""

    kind: str

    order: ClassVar[int]
    """The position of the kind in lists and in the schema."""
    title: ClassVar[str]
    """Completes “The criterion is met when …”."""
    seconds: ClassVar[float] = SECONDS
    """The time limit in seconds."""
    stricter: ClassVar[Mapping[str, Callable[[Any, Any], bool]]] = {}
    """By field, a function that says whether a new value is at least as strict as the old one. Other fields must be
    equal.
    """
    can_compare: ClassVar[bool] = False
    """Whether checks of this kind can compare the result with something else."""
    counts_each: ClassVar[bool] = False
    """Whether it can decide a criterion that speaks of each of several things."""
    is_quick: ClassVar[bool] = False
    """Whether it examines one file and is fast. Such a check is tried each time a step writes the file."""
    limits_size: ClassVar[bool] = False
    """Whether it states the length of a file, so that the run's default minimum does not apply."""

    @classmethod
    def name(cls) -> str:
        """Returns the value of `kind`."""
        return str(get_args(cls.model_fields["kind"].annotation)[0])

    @property
    @abstractmethod
    def subject(self) -> str:
        """The path, pattern or source that the check is about."""

    @abstractmethod
    def words(self, commands: Mapping[str, str]) -> str:
        """Returns what the check looks for, as a clause for people. `commands`: command lines by name."""

    def problem(self) -> str | None:
        """Returns why a plan must not contain the check, or None. Raises InvalidInput for an impossible path."""
        return None

    @abstractmethod
    def decide(self, material: CheckInput, budget: Budget) -> Evidence:
        """Returns whether it holds, with figures. Raises InvalidInput with a sentence if that cannot be decided."""

    @property
    def compares(self) -> bool:
        """Whether it compares the result with something else."""
        return self.can_compare

    @property
    def compared_paths(self) -> Sequence[str]:
        """The paths and patterns that it compares the result with. Each must match a given file."""
        return ()

    @property
    def looked_up(self) -> Literal["", "passages", "rows"]:
        """What the check looks up in the sources: quoted passages, or each row of a table."""
        return ""

    @property
    def reads_whole(self) -> str:
        """The pattern of the given files that executors must have read to the end, or an empty string."""
        return ""

    @property
    def commands(self) -> Sequence[str]:
        """The names of the administrator's commands that it runs."""
        return ()

    @property
    def long_texts(self) -> dict[str, str]:
        """The texts that `words` omits, by label of their field."""
        return {label.text: getattr(self, name) for name, label in labels_of(type(self)).items() if label.is_long}

    def is_as_strict_as(self, other: "Check") -> bool:
        """Whether it is at least as strict as the other check."""
        if type(self) is not type(other):
            return False
        fields = set(self.stricter)
        is_same = self.model_dump(exclude=fields) == other.model_dump(exclude=fields)
        return is_same and all(
            holds(getattr(self, name), getattr(other, name)) for name, holds in self.stricter.items()
        )


class FileCheck(Check):
    """The base class of checks that examine one file of the result."""

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
        """Returns the result for a file with this content. Its sentence continues the file's path.

        Raises InvalidInput (also its subclass TooSlow), with such a sentence, if that cannot be decided.
        """


def includes(now: Sequence[str], before: Sequence[str]) -> bool:
    """Whether a list still contains everything that it contained."""
    return set(before) <= set(now)


def text_in(data: bytes) -> str:
    """Returns the text of a file. Raises InvalidInput if it has none."""
    text = text_of(data)
    if text is None:
        raise InvalidInput("is not a text file")
    return text


def evidence_of(source: str, data: bytes | None, found: CheckResult) -> Evidence:
    """Returns the result as evidence about the source with this content."""
    made = Provenance.OBSERVED if found.observed else Provenance.MADE
    return Evidence(
        kind="check",
        source=source,
        verified=found.holds,
        sentence=found.sentence,
        sha256="" if data is None else digest_of(data),
        start=found.start,
        end=found.end,
        line=found.line,
        quote=found.quote,
        provenance=Provenance.GIVEN if found.outside else made,
    )
