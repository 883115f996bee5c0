"""Files that people give at a gate because they are missing: they become input files of the run, and it goes on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.utils import timezone

from runs.contracts.ports import FileInfo
from runs.enums import SETTLED_STEPS, GateStatus, PlanStatus, RunStatus, StepStatus
from runs.errors import DecisionRefused, UploadRefused
from runs.events import kinds as events
from runs.lifecycle import quotas
from runs.lifecycle import state as states
from runs.lifecycle.advance import advance
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.criteria_ledger import was_read
from runs.lifecycle.gate_decisions import already_decided, ask_again, current_digest, record_decision
from runs.lifecycle.gates.plan_gate import missing_in_plan
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.state import RunState
from runs.lifecycle.transitions import change
from runs.models import Gate, Plan, Run, Step, ToolCall, User
from runs.people import second_person
from runs.people.permissions import check_can_decide, part_in_plan
from runs.pev.contracts import PlanStep
from runs.pev.missing_inputs import missing_in, missing_inputs
from runs.pev.read_set import meant_by
from runs.pev.tools.registry import may_run_commands, reads_files
from runs.store import event_log, trees
from runs.store.input_limits import check_limits
from runs.text.paths import clashes, is_pattern, selected

MAX_MISSING = 5
"""Missing files that are named at a gate."""
ANY_NAME = "\0"
"""In place of the name of a file that is not known yet. No pattern except those for all files means it."""


@dataclass(frozen=True)
class Supplied:
    """The paths of the files that are new in the run, and of those that it had already with the same content."""

    added: tuple[str, ...]
    known: tuple[str, ...] = ()


def check_may_supply(gate: Gate, user: User) -> None:
    """Raises NotAllowed, or DecisionRefused where no file is taken, before anything of an upload is stored."""
    check_can_decide(user, gate.run)
    if gate.run.status == RunStatus.FINISHED:
        raise DecisionRefused("This run has ended and takes no more files. “Run again” takes its files and new ones.")
    if not type_of(gate).takes_files:
        raise DecisionRefused("Files are given where a step did not pass, or with a plan; this question takes none.")


def supply(
    gate_id: int, user: User, files: Mapping[str, FileInfo], *, how: str = "person", remarks: Sequence[str] = ()
) -> Supplied:
    """Make these stored files input files of the run, and answer the gate with them, in one transaction.

    `remarks` are sentences for the history on files that were not taken. Nothing changes if the run has all of the
    files with the same content, so that sending them twice is harmless; only where the attempt had not seen them yet,
    because they were given at another gate meanwhile, is its step tried again.

    Raises NotAllowed; DecisionRefused if the gate was decided or the run has ended; UploadRefused for a name that is
    taken, and for too much; InvalidInput for more than the quotas of the owner leave.
    """
    with event_log.writing():
        gate = Gate.objects.select_related("plan", "step", "attempt", "work", "decided_by").get(pk=gate_id)
        run = event_log.locked(gate.run_id)
        # The row was read before the run was locked: another person may have decided in between.
        gate.refresh_from_db(fields=["status", "decided_by", "decided_at", "decided_how", "reason", "supplied"])
        gate.run = run
        check_may_supply(gate, user)
        inputs = trees.files_of(run.inputs)
        known = tuple(path for path, info in files.items() if inputs.get(path) == info)
        new = {path: info for path, info in files.items() if path not in known}
        seen = trees.files_of(gate.attempt.given) if gate.attempt else inputs
        unseen = {path for path, info in files.items() if seen.get(path) != info}
        if not new and not (unseen and gate.status == GateStatus.OPEN):
            return Supplied((), known)
        if gate.status != GateStatus.OPEN:
            raise DecisionRefused(already_decided(gate))
        _check_new(run, new)
        if new:
            quotas.check_more_files(run, sum(info.size for info in new.values()))
        if remarks:
            event_log.record(run.pk, events.Note(text=" ".join(remarks)[:2_000]))
        _add(gate, user, new, sorted(new.keys() | unseen), how)
        return Supplied(tuple(new), known)


def _check_new(run: Run, new: Mapping[str, FileInfo]) -> None:
    """Raises UploadRefused for a name that is taken, and for too much."""
    given, now = trees.files_of(run.inputs), trees.files_of(run.head)
    plan = run.plans.newest()
    planned = {path for spec in states.specs_of(plan).values() for path in spec.outputs} if plan else set[str]()
    for path in new:
        if path in given:
            raise UploadRefused(
                f"The run has a file “{path}” with another content. A file that steps may have read is not replaced: "
                "give this one another name, or stop the run and choose “Run again” with the new file."
            )
        if path in now or path in planned:
            raise UploadRefused(f"“{path}” is the name of a result of this run. Give the file another name.")
    if excluded := selected(run.excluded, list(new)):
        raise UploadRefused(
            f"“{excluded[0]}” is among the files that were excluded when the task was submitted "
            f"({', '.join(run.excluded[:3])}), so no step would read it. Give it another name."
        )
    there = dict.fromkeys([*given, *now, *sorted(planned)])
    if pairs := [pair for pair in clashes([*there, *new]) if not new.keys().isdisjoint(pair)]:
        one, other = pairs[0]
        raise UploadRefused(f"“{one}” and “{other}” cannot lie in one folder; rename the one that you give.")
    check_limits([(path, info.size) for path, info in {**given, **new}.items()])


def _add(gate: Gate, user: User, new: Mapping[str, FileInfo], supplied: list[str], how: str) -> None:
    """Add the new files to the run, and answer the gate with all that were given there."""
    run, before = gate.run, gate.run.inputs
    change(
        gate,
        GateStatus.SUPPLIED,
        decided_by=user,
        decided_at=timezone.now(),
        decided_how=how,
        supplied=supplied,
        inputs=before,
    )
    event_log.keep(run, inputs=trees.with_changes(before, dict(new)), head=trees.with_changes(run.head, dict(new)))
    event = events.GateDecided(
        gate=gate.pk,
        gate_kind=gate.kind,
        decision=gate.status,
        by=user.get_username(),
        how=how,
        reason="",
        step=gate.step.key if gate.step else "",
        words=type_of(gate).decided_in_history(gate),
        tree=run.head.digest,
    )
    event_log.record(run.pk, event)
    record_decision(gate)
    type_of(gate).follow_supply(gate)
    state = states.of(run)
    others = _other_readers(state, gate, new) if new else []
    _carry_approval(state, before.digest, user, others)
    _ask_about_starts_again(state, others)
    advance(run.pk)


def _other_readers(state: RunState, gate: Gate, new: Collection[str]) -> list[str]:
    """The keys of other unsettled steps that would read a new file which they do not name."""
    key = gate.step.key if gate.step else ""
    return [
        step.key
        for step in state.steps.values()
        if step.key != key and step.status not in SETTLED_STEPS and _would_read_unnamed(state.specs[step.key], new)
    ]


def _would_read_unnamed(spec: PlanStep, new: Collection[str]) -> bool:
    if may_run_commands(spec):
        return True
    return reads_files(spec) and bool(set(meant_by([spec], new)) - set(spec.inputs))


def _carry_approval(state: RunState, before: str, user: User, others: Collection[str]) -> None:
    """Let the approval of the plan hold for the new input files too, where they change nothing of what was approved.

    They change it for `others`. And where a second person has to approve, who is none gives nothing by themselves.
    """
    plan, run = state.plan, state.run
    if plan is None or plan.status != PlanStatus.APPROVED or plan.approval_fingerprint is None:
        return
    is_needed = (others and was_read(plan)) or (_needs_second_person(run, plan) and part_in_plan(user, run) != "")
    if is_needed or _is_ended(plan, before):
        return
    if run.inputs.digest == before:
        return
    approved = plan.approval_fingerprint | {fingerprint.INPUT_FILES: run.inputs.digest}
    Plan.objects.filter(pk=plan.pk).update(approval_fingerprint=approved)
    plan.approval_fingerprint = approved
    if plan.approved_by and was_read(plan):
        who = plan.approved_by.get_username()
        text = f"{who} approved version {plan.version} of the plan before. This approval also holds with the new files."
        event_log.record(run.pk, events.Note(text=text))


def _is_ended(plan: Plan, inputs: str) -> bool:
    """Whether files that were given before have ended the approval. It is not revived by others."""
    return (plan.approval_fingerprint or {}).get(fingerprint.INPUT_FILES) != inputs


def _needs_second_person(run: Run, plan: Plan) -> bool:
    """Whether the approval ends if someone gives files who is no second person, because one had to approve."""
    return was_read(plan) and second_person.is_needed_for_plan(run, plan)


def _ask_about_starts_again(state: RunState, others: Collection[str]) -> None:
    """Ask again whether steps may start that were bound to the input files as they were."""
    cleared = [state.steps[key].id for key in others if state.steps[key].cleared]
    Step.objects.filter(pk__in=cleared, status=StepStatus.PENDING).update(cleared=False)
    for gate in state.run.gates.open().select_related("plan", "step", "attempt", "work"):
        gate.run = state.run
        if current_digest(gate) != gate.digest:
            ask_again(gate)


def missing_at(gate: Gate) -> list[str]:
    """The files that are missing at a gate, as far as its plan, or the step and its executor, name them."""
    run = gate.run
    if gate.plan:
        return missing_in_plan(run, states.specs_of(gate.plan).values())[:MAX_MISSING]
    if gate.step is None or gate.attempt is None:
        return []
    made = {path for spec in states.specs_of(gate.step.plan).values() for path in spec.outputs}
    there = dict.fromkeys([*trees.files_of(run.inputs), *trees.files_of(run.head), *made])
    output = gate.attempt.output
    said = [output.reasoning, output.findings, output.notes] if output and output.status == "blocked" else []
    calls = ToolCall.objects.filter(attempt=gate.attempt, is_error=True).order_by("pk")
    asked = [f"“{call.arguments['path']}”" for call in calls if "path" in call.arguments]
    named = [*missing_inputs([gate.step.spec], there), *missing_in("\n".join([*asked, *said]), there)]
    return list(dict.fromkeys(named))[:MAX_MISSING]


def asks_for_files(gate: Gate) -> bool:
    """Whether a person is offered to give files: where a step did not pass, and at a plan that names missing ones."""
    return type_of(gate).takes_files and (gate.plan is None or bool(missing_at(gate)))


@dataclass(frozen=True)
class PlanAgain:
    """Why the plan needs an approval again when files are given at a step.

    * `is_ended`: it needs one in any case, because of files that were given before.
    * `readers`: the names of other steps that would read every new file.
    * `by_pattern`: the names of other steps that would read a new file whose name matches a pattern.
    * `if_first_person`: it needs one if someone gives the files who is no second person.
    """

    is_ended: bool = False
    readers: tuple[str, ...] = ()
    by_pattern: tuple[str, ...] = ()
    if_first_person: bool = False


def plan_again(gate: Gate) -> PlanAgain:
    """Whether and why `supply` at this step would end the approval of the plan, before the files are known."""
    state = states.of(gate.run)
    run, plan = state.run, state.plan
    if plan is None or plan.status != PlanStatus.APPROVED or plan.approval_fingerprint is None:
        return PlanAgain()
    all_readers = _other_readers(state, gate, [ANY_NAME]) if was_read(plan) else []
    own = gate.step.key if gate.step else ""
    by_pattern = [
        key
        for key, step in state.steps.items()
        if was_read(plan)
        and key not in (own, *all_readers)
        and step.status not in SETTLED_STEPS
        and reads_files(state.specs[key])
        and any(is_pattern(path) for path in state.specs[key].inputs)
    ]
    return PlanAgain(
        _is_ended(plan, run.inputs.digest),
        tuple(state.specs[key].name for key in all_readers),
        tuple(state.specs[key].name for key in by_pattern),
        _needs_second_person(run, plan),
    )
