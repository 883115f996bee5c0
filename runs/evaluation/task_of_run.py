"""A finished run as a task of a suite: what was asked, with which files, and what its result was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from django.utils import timezone

from runs.contracts.ports import FileInfo
from runs.enums import RunStatus
from runs.errors import InvalidInput
from runs.evaluation.expectations import MAX_ITEMS, problem_with_pattern
from runs.evaluation.suite import FILES, TASK_FILE, read_task
from runs.lifecycle.approval import fingerprint
from runs.models import Run
from runs.pev.imports.imported import exported
from runs.pev.policy import SETTINGS, Policy
from runs.pev.policy_setting import SettingGroup
from runs.readmodel.run_view import reading_of
from runs.reports.archive import entry_name, zipped
from runs.reports.contract import Report
from runs.reports.json_report import report_of
from runs.store import blobs, trees
from runs.submission.policy_presets import default_policy
from runs.submission.run_templates import SHIPPED, plan_worth_keeping
from runs.text.sensitive_names import secret_part

PLAN_FILE = "plan.json"
NOT_FINISHED = "Only a finished run can be saved as an evaluation task."
_HEAD = """\
# A task of an evaluation suite: put this folder into the folder of a suite, and run it with `evaluate`.
# What is expected was taken from run {number}. Change it to what must be so in every run.
"""
_OF_PEOPLE = frozenset({SettingGroup.DECISIONS})
"""Settings that name people and times."""
_NOT_CARRIED = frozenset({"reuse", "without_reuse", "same_model_verifier", "min_catch_rate", "canary_every"})


@dataclass(frozen=True)
class TaskDraft:
    """The folder of a task before a person takes it. `text`: that of `task.yaml`; `files`: what was given to the run.

    `sensitive`: the files that usually hold secrets. `plan`: the approved plan as JSON, if it is part of the task.
    """

    name: str
    text: str
    files: Mapping[str, FileInfo]
    sensitive: list[str]
    plan: str = ""

    def stream(self) -> Iterator[bytes]:
        """The folder as a zip. Raises InvalidInput, before the first byte, for a text that `evaluate` cannot use."""
        read_task(self.text.encode())
        contents = [(f"{self.name}/{TASK_FILE}", iter([self.text.encode()]))]
        if self.plan:
            contents.append((f"{self.name}/{PLAN_FILE}", iter([self.plan.encode()])))
        contents += [
            (f"{self.name}/{FILES}/{entry_name(path)}", blobs.pieces_of(info.sha256))
            for path, info in self.files.items()
        ]
        return zipped(contents, timezone.now())


def task_of(run: Run, name: str = "", request: str = "", *, with_plan: bool = False) -> TaskDraft:
    """The task of a finished run. `name`: that of its folder, by default from the title. `request`: other words than
    those of the run. `with_plan`: its approved plan belongs to the task, so that no planner is asked.

    Raises InvalidInput for a run that is not finished.
    """
    if run.status != RunStatus.FINISHED:
        raise InvalidInput(NOT_FINISHED)
    approved = plan_worth_keeping(run) if with_plan else None
    plan = exported(fingerprint.contract_of(approved)) if approved else ""
    shipped = next((key for key, template in SHIPPED.items() if template.name == run.template), "")
    task: dict[str, Any] = {"description": f"From run {run.pk}.", "request": request or run.request}
    if plan:
        task["plan"] = PLAN_FILE
    elif shipped:
        task["template"] = shipped
    if run.excluded:
        task["exclude"] = list(run.excluded)
    expected = expected_of(report_of(reading_of(run)))
    task |= {"needs_model": not run.policy.by_rules, "policy": policy_texts(run.policy), "expect": expected}
    text = yaml.safe_dump(
        {name: value for name, value in task.items() if value}, sort_keys=False, allow_unicode=True, width=100
    )
    files = trees.files_of(run.inputs)
    return TaskDraft(
        name=folder_name(name or run.title),
        text=_HEAD.format(number=run.pk) + text,
        files=files,
        sensitive=[path for path in files if secret_part(path)],
        plan=plan,
    )


def folder_name(text: str) -> str:
    """A name for a folder on every system, from the words of a person."""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower())
    return words[:60].strip("-") or "task"


def policy_texts(policy: Policy) -> dict[str, str]:
    """What a policy sets otherwise than this installation, as a person types it, but for what names people."""
    usual = default_policy()
    return {
        name: _setting(getattr(policy, name))
        for name, setting in SETTINGS.items()
        if setting.group not in _OF_PEOPLE
        and name not in _NOT_CARRIED
        and getattr(policy, name) != getattr(usual, name)
    }


def _setting(value: object) -> str:
    """The value as a person types it."""
    match value:
        case None:
            return "none"
        case bool():
            return "on" if value else "off"
        case list() | tuple() | frozenset() | set():
            return " ".join(sorted(map(str, value)))
        case _:
            return str(value)


def expected_of(report: Report) -> dict[str, Any]:
    """What the run itself has: its outcome, and what was right in it. Paths that a task cannot name are left out."""
    expected: dict[str, Any] = {"outcome": str(report.outcome)}
    if report.success_criteria and all(one.passed for one in report.success_criteria):
        expected["criteria_met"] = "all"
    usable = [file.path for file in report.files if not problem_with_pattern(file.path)]
    if usable:
        expected["files"] = {"made": usable[:MAX_ITEMS]}
    if not report.citations.broken:
        expected["citations"] = {"broken_at_most": 0}
    return expected
