"""The result of a suite: what was found in each run, as a file that later results are compared with."""

from __future__ import annotations

import os
import secrets
import stat
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

from django.conf import settings
from pydantic import AwareDatetime, Field, ValidationError

from runs.contracts.base import Contract
from runs.enums import Outcome
from runs.errors import InvalidInput
from runs.evaluation.expectations import Judged

VERSION: Literal["1.0"] = "1.0"
MAX_BYTES = 50_000_000
"""Of a result: five hundred tasks with a hundred repetitions of a kilobyte."""
FOLDER = "evaluations"
"""The folder in a data folder that has the results of its evaluations, by number."""

type Amount = Annotated[Decimal, Field(ge=0)]


class JudgedRun(Contract):
    """A repetition of a task. `why_not` says why there was no run; empty if it was judged.

    `left_out`: it was not meant to run here, because it needs a model. `submission` identifies the run in the
    installation in which it was made. `cost_usd` counts replayed replies as well. `worked_ms`: without waiting.
    """

    task: str
    repetition: int
    why_not: str = ""
    left_out: bool = False
    submission: UUID | None = None
    outcome: Outcome | None = None
    properties: tuple[Judged, ...] = ()
    cost_usd: Amount = Decimal(0)
    unpriced: int = 0
    calls: int = 0
    worked_ms: int = 0

    @property
    def held(self) -> bool:
        """Whether the run was judged and has every property."""
        return not self.why_not and all(one.held for one in self.properties)


class SuiteResult(Contract):
    """`prompts` and `pevsite` are versions; `tasks`: the digest of each task. `spent_usd`: what was really asked.

    `asked`, `replayed` and `missing` count questions with recorded replies: asked again, answered by them, and not
    answered because nothing may be asked.
    """

    schema_version: Literal["1.0"] = VERSION
    suite: str
    at: AwareDatetime
    pevsite: str
    prompts: str
    service: str
    tasks: dict[str, str]
    runs: tuple[JudgedRun, ...]
    spent_usd: Amount = Decimal(0)
    asked: int = 0
    replayed: int = 0
    missing: int = 0


class StoredEvaluation(Contract):
    """A result with the baseline that it was compared with, if there was one."""

    result: SuiteResult
    baseline: SuiteResult | None = None


def read_result(file: Path) -> SuiteResult:
    """The result in a file. Raises InvalidInput."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"“{file}” cannot be read: {error.strerror}.") from error
    if len(data) > MAX_BYTES:
        raise InvalidInput(f"“{file}” is too large for the result of a suite.")
    try:
        return SuiteResult.model_validate_json(data)
    except ValidationError as error:
        raise InvalidInput(f"“{file}” is not the result of a suite, as `evaluate --save` writes it.") from error


def check_can_save(file: Path) -> None:
    """Raises InvalidInput if a result cannot be saved in this file, so that none is paid for and lost."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise InvalidInput(f"“{file}” is not a file. Name a file for the result.")
    except (FileNotFoundError, NotADirectoryError):
        pass  # whether it can be made depends on its folder
    except OSError as error:
        raise InvalidInput(f"“{file}” cannot be written: {error.strerror}.") from error
    folder = file.resolve().parent
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise InvalidInput(f"“{folder}” is not a folder in which files can be written. Make it, or name another file.")


def save(result: SuiteResult, file: Path) -> None:
    """Write the whole file or nothing: it may be the baseline, which must not be lost."""
    target = file.resolve()
    draft = target.with_name(f".{target.name[:32]}-{secrets.token_hex(4)}")
    try:
        draft.write_text(result.model_dump_json(indent=1) + "\n", encoding="utf-8")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def store(evaluation: StoredEvaluation) -> int:
    """Keep an evaluation in the data folder, and return its number."""
    folder = settings.DATA_DIR / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    number = max(stored_numbers(), default=0) + 1
    (folder / f"{number}.json").write_text(evaluation.model_dump_json(indent=1), encoding="utf-8")
    return number


def stored_numbers() -> list[int]:
    """The numbers of the stored evaluations, newest first."""
    names = (file.stem for file in (settings.DATA_DIR / FOLDER).glob("*.json"))
    return sorted((int(name) for name in names if name.isascii() and name.isdigit()), reverse=True)


def stored(number: int) -> StoredEvaluation | None:
    """The stored evaluation with this number; None if there is none that can be read."""
    try:
        return StoredEvaluation.model_validate_json((settings.DATA_DIR / FOLDER / f"{number}.json").read_bytes())
    except (OSError, ValidationError):
        return None
