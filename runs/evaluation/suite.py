"""Suites: folders of tasks. Each task is a folder with `task.yaml`, and with its files in `files` or where it says.

Suites come from outside, so that nothing in them may lead out of the folder: paths are checked, and links are refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self, override

import yaml
from pydantic import Field, StringConstraints, ValidationError, WithJsonSchema, model_validator

from runs.contracts.base import Contract
from runs.errors import InvalidInput, PathRefused
from runs.evaluation.expectations import Expected
from runs.submission.samples import SAMPLES
from runs.text.paths import clean_path
from runs.text.plural import pluralize

TASK_FILE, FILES = "task.yaml", "files"
MAX_TASK_BYTES = 200_000
MAX_PLAN_BYTES = 2_000_000
MAX_TASKS = 500
MAX_FILES = 20_000
"""Of one task. What a run may be given is limited by the installation as well."""
_PROBLEMS = 5
"""Problems of one task that an error names."""
_Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]{0,59}$")]
_Path = Annotated[str, StringConstraints(strip_whitespace=True, max_length=400)]
_Setting = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]


class EvaluationTask(Contract):
    """A task with the properties that its run must have.

    * `request`: the task in a person's words. A `sample` brings its own, with its files and its template.
    * `files`: the folder of the files, from the folder of the suite on; by default `files` next to `task.yaml`, if it
      is there. `exclude`: patterns of files that no step has to read.
    * `plan`, `template`: an imported plan (a JSON file next to `task.yaml`) or a template; otherwise a planner plans.
    * `preset`, `policy`: the policy, as the options of `manage.py run` have it.
    * `needs_model`: offline rules cannot do it. The task is left out where no model is connected.
    """

    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] = ""
    request: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100_000)] = ""
    sample: _Path = ""
    files: _Path = ""
    exclude: Annotated[tuple[_Path, ...], Field(max_length=50)] = ()
    plan: _Path = ""
    template: _Path = ""
    preset: _Path = "balanced"
    policy: dict[_Name, _Setting] = Field({}, max_length=100)
    needs_model: bool = False
    expect: Expected

    @model_validator(mode="after")
    def _is_a_task(self) -> Self:
        if not self.request and not self.sample:
            raise ValueError("write a request, or name a sample")
        if self.sample and self.sample not in SAMPLES:
            raise ValueError(f"there is no sample “{self.sample}”; there are: {', '.join(SAMPLES)}")
        if self.plan and self.template:
            raise ValueError("name a plan or a template, not both")
        if self.expect == Expected():
            raise ValueError("nothing is expected of the run, so that it could not fail")
        return self


def schema() -> dict[str, Any]:
    """The JSON Schema of `task.yaml`, as it is published in `docs/evaluation-task.schema.json`."""
    made = EvaluationTask.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:pevsite:evaluation-task:1.0",
        **made,
        "title": "A task of a pevsite evaluation suite",
    }


@dataclass(frozen=True)
class SuiteTask:
    """A task of a suite by its name, with the files on disk and the bytes of its plan, if it has one."""

    name: str
    task: EvaluationTask
    files: Mapping[str, Path]
    plan: bytes = b""

    @cached_property
    def digest(self) -> str:
        """Changes with everything that the run is given or judged by, but for the content of samples."""
        digests = {path: _digest_of(file) for path, file in self.files.items()}
        parts = [self.task.model_dump(mode="json", exclude={"description"}), digests, _sha256(self.plan)]
        return _sha256(json.dumps(parts, sort_keys=True).encode())


@dataclass(frozen=True)
class Suite:
    name: str
    tasks: tuple[SuiteTask, ...]


def load_suite(folder: Path) -> Suite:
    """The tasks of a suite, by name. Raises InvalidInput with a sentence for the first task that cannot be used."""
    root = folder.resolve()
    if not root.is_dir():
        raise InvalidInput(f"“{folder}” is not a folder. A suite is a folder of folders with a {TASK_FILE} each.")
    found = sorted(
        inner for inner in root.iterdir() if (inner / TASK_FILE).is_symlink() or (inner / TASK_FILE).exists()
    )
    if not found:
        raise InvalidInput(f"“{folder}” has no tasks: no folder in it has a {TASK_FILE}.")
    if len(found) > MAX_TASKS:
        raise InvalidInput(f"“{folder}” has {len(found)} tasks; a suite may have {MAX_TASKS}.")
    return Suite(root.name, tuple(_load_task(root, inner.name) for inner in found))


def _load_task(root: Path, name: str) -> SuiteTask:
    try:
        task = read_task(_read(root, f"{name}/{TASK_FILE}", MAX_TASK_BYTES))
        plan = _read(root, f"{name}/{task.plan}", MAX_PLAN_BYTES) if task.plan else b""
        if task.files:
            files = dict(_files_in(root, task.files))
        else:
            files = dict(_files_in(root, f"{name}/{FILES}")) if (root / name / FILES).exists() else {}
    except OSError as error:
        raise InvalidInput(f"Task “{name}”: “{error.filename}” cannot be read ({error.strerror}).") from error
    except InvalidInput as error:
        raise InvalidInput(f"Task “{name}”: {error}") from error
    return SuiteTask(name, task, files, plan)


def read_task(data: bytes) -> EvaluationTask:
    """The task in the YAML of a `task.yaml`. Raises InvalidInput."""
    try:
        value = yaml.load(data, _TaskLoader)  # noqa: S506  # a loader of scalars, lists and mappings alone
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InvalidInput(f"{TASK_FILE} cannot be read{line}: {error.problem}.") from error
    except (yaml.YAMLError, ValueError) as error:
        raise InvalidInput(f"{TASK_FILE} cannot be read: it has characters that YAML does not allow.") from error
    except RecursionError as error:
        raise InvalidInput(f"{TASK_FILE} cannot be read: it is nested too deeply.") from error
    if not isinstance(value, dict):
        raise InvalidInput(f"{TASK_FILE} cannot be used: it has to have the fields request and expect.")
    try:
        return EvaluationTask.model_validate(value)
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in one['loc']) or 'the task'}: {one['msg'].removeprefix('Value error, ')}"
            for one in error.errors(include_input=False, include_url=False)
        ]
        more = f" (and {len(problems) - _PROBLEMS} more)" if len(problems) > _PROBLEMS else ""
        raise InvalidInput(f"{TASK_FILE} cannot be used: {'; '.join(problems[:_PROBLEMS])}{more}.") from error


class _TaskLoader(yaml.BaseLoader):
    """Reads scalars as they are written, so that `off`, `1_000` and `2026-01-01` are no surprise.

    Aliases are refused, because a short text with them can mean gigabytes, and so are keys that occur twice.
    """

    @override
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark: Any = self.get_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not allowed; write it out", mark)
        return super().compose_node(parent, index)

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = set[str]()
        for key, _ in node.value:
            problem = ""
            if not isinstance(key, yaml.ScalarNode):
                problem = "a key has to be a word"
            elif key.value in keys:
                problem = f"“{key.value}” occurs twice"
            if problem:
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep=deep)


def _read(root: Path, path: str, most: int) -> bytes:
    """The bytes of a file in the suite."""
    file = _inside(root, path)
    if not file.is_file():
        raise InvalidInput(f"“{path}” is not a file.")
    with file.open("rb") as opened:
        data = opened.read(most + 1)
    if len(data) > most:
        raise InvalidInput(f"“{path}” is too large: it may have {most:,} bytes.")
    return data


def _files_in(root: Path, folder: str) -> Iterator[tuple[str, Path]]:
    """The files below a folder of the suite, by their paths in it."""
    top = _inside(root, folder)
    if not top.is_dir():
        raise InvalidInput(f"“{folder}” is not a folder in the suite.")
    count = 0
    for file in sorted(top.rglob("*")):
        path = file.relative_to(top).as_posix()
        if file.is_symlink() or not (file.is_file() or file.is_dir()):
            raise InvalidInput(f"“{folder}/{path}” is a link or no ordinary file; files of a task are copies.")
        if file.is_file():
            count += 1
            if count > MAX_FILES:
                raise InvalidInput(f"“{folder}” has more than {pluralize(MAX_FILES, 'file')}.")
            yield path, file


def _inside(root: Path, path: str) -> Path:
    """A path in the suite, none of whose parts is a link. Raises InvalidInput for a path that leads elsewhere."""
    try:
        clean = clean_path(path)
    except PathRefused as error:
        raise InvalidInput(f"{error} Paths of a suite stay inside its folder.") from error
    place = root
    for part in clean.split("/"):
        place /= part
        if place.is_symlink():
            raise InvalidInput(f"“{place.relative_to(root)}” is a link; a suite has none.")
    return place


def _digest_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
