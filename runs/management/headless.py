"""What `manage.py run` does: submit, follow the events in the terminal, answer gates, write the result out."""

import json
import os
import sys
import time
import uuid
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError, OutputWrapper

from runs.engine.process import Engine
from runs.enums import AuditKind, GateStatus, Outcome, RunStatus
from runs.errors import DecisionRefused, FilesMissing, InvalidInput
from runs.events.kinds import read
from runs.lifecycle.gate_decisions import already_decided, decide, decision_without_person
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.owner_actions import ReportNames
from runs.local_files.reading import files_below
from runs.local_files.writing import check_folder
from runs.management.odd_names import with_usable_names
from runs.management.output_folder import write_out
from runs.management.policy_options import given_texts, option
from runs.management.questions import MissingFiles, decision_on
from runs.models import Gate, Run
from runs.operations.traces import trace_listener
from runs.people.accounts import first_administrator
from runs.pev.imports.imported import MAX_BYTES, imported
from runs.readmodel.gate_text import about
from runs.readmodel.run_view import reading_of
from runs.reports.formats import FORMATS
from runs.reports.json_report import as_json
from runs.reports.outline import Part
from runs.store import audit_trail
from runs.submission.intake import LazyFile, Upload, encoded
from runs.submission.policy_presets import current_service, preset_policy, with_texts
from runs.submission.run_templates import Chosen, called
from runs.submission.samples import allowing, named, uploads_of
from runs.submission.submit import Submission, submit
from runs.submission.supplied_uploads import give_files


class Headless:
    """One task, from its submission to its outcome. `options` are those of the command. Ends the process."""

    def __init__(self, stdout: OutputWrapper, stderr: OutputWrapper, options: dict[str, Any]) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self._options = options
        self._quiet = bool(options["json"])

    def run(self) -> NoReturn:
        """Raises CommandError with return code 2 if the task cannot be started."""
        options = self._options
        call_command("migrate", verbosity=0, interactive=False)
        owner = _owner(options["user"])
        run = self._submit(owner)
        self._say(f"{current_service().for_operators}\nRun {run.pk}: {run.title}")
        if not run.policy.sources_needed:
            self._say("No sources are needed: no criterion may be about sources.")
        engine = Engine(only_run=run.pk)
        engine.start()
        try:
            self._follow(run, owner, approve_all=options["approve_all"])
        except KeyboardInterrupt:
            self._say(f"\nLeft. Run {run.pk} stays as it is; it continues where a server runs on this data folder.")
            self._leave(engine, 1)
        run.refresh_from_db()
        if options["out"]:
            part, report_format = Part(options["report_part"]), FORMATS[options["report"]]
            for problem in write_out(run, options["out"], report_format, part, overwrite=options["overwrite"]):
                self.stderr.write(problem)
            audit_trail.record(
                AuditKind.REPORT_EXPORTED, run_id=run.pk, subject="report with all files", name=report_format.name
            )
        if options["json"]:
            self.stdout.write(json.dumps(as_json(reading_of(run)), ensure_ascii=False, indent=2))
        else:
            reading = reading_of(run)
            self._say("\n" + (reading.answer or "\n".join(f"- {gap}" for gap in reading.gaps)))
        self._leave(engine, Outcome(run.outcome).exit_code if run.outcome else 1)

    def _submit(self, owner: Any) -> Run:
        """Submits the task. The options of the report are checked before, because they are used when it is over."""
        options = self._options
        try:
            if options["report"] not in FORMATS:
                raise InvalidInput(f"--report is one of {', '.join(FORMATS)}.")
            if options["report_part"] not in list(Part):
                raise InvalidInput(f"--report-part is one of {', '.join(Part)}.")
            if options["out"]:
                check_folder(options["out"])
            return submit(owner, self._submission(owner))
        except FilesMissing as error:
            raise CommandError(f"{error} Name them with --files, or say --no-files.", returncode=2) from error
        except InvalidInput as error:
            raise CommandError(str(error), returncode=2) from error
        except OSError as error:
            raise CommandError(f"“{error.filename}” cannot be read: {error.strerror}.", returncode=2) from error

    def _submission(self, owner: Any) -> Submission:
        """The task as the options describe it; a sample fills in what they leave open."""
        options = self._options
        request, uploads = options["request"], list[Upload]()
        template, no_files = options["template"], options["no_files"]
        sample = None
        if options["sample"]:
            sample = named(options["sample"])
            uploads, no_files = uploads_of(sample), no_files or not sample.folder
            request = request or sample.request
            template = template or ("" if options["plan"] else sample.template)
        if options["files"]:
            uploads += collected(options["files"], options["include"])
        ask = not (options["approve_all"] or self._quiet)
        uploads, remarks = with_usable_names(uploads, options["odd_names"], ask, self._say)
        uploads, chosen = encoded(uploads, options["encoding"], owner.get_username())
        texts = given_texts(options)
        plan = _plan(owner, options["plan"], template)
        if plan and not plan.sources_needed:
            texts = {"sources_needed": "off"} | texts
        policy = preset_policy(options["preset"])
        policy = with_texts(allowing(sample, policy) if sample else policy, texts, option)
        return Submission(
            request,
            uploads,
            policy,
            uuid.uuid4(),
            no_files=no_files,
            remarks=[*remarks, *chosen],
            excluded=options["exclude"],
            plan=plan.plan if plan else None,
            plan_from=plan.reason if plan else "",
            template=plan.template if plan else "",
            letterhead=plan.letterhead if plan else None,
            names=ReportNames(options["client"], options["matter"], options["author"]),
        )

    def _follow(self, run: Run, owner: Any, *, approve_all: bool) -> None:
        """Print new events and answer gates until the run is finished."""
        seen = 0
        while True:
            for event in run.events.after(seen):
                seen = event.seq
                self._say(f"{event.seq:>4}  {' '.join(read(event.kind, event.data).sentence({}).split())}")
            run.refresh_from_db(fields=["status", "event_count"])
            if run.status == RunStatus.FINISHED and seen == run.event_count:
                return
            gate = run.gates.open().order_by("id").first()
            if gate and seen == run.event_count:
                self._answer(gate, owner, approve_all=approve_all)
            time.sleep(0.05)

    def _answer(self, gate: Gate, owner: Any, *, approve_all: bool) -> None:
        decision: Decision | MissingFiles
        if approve_all:
            decision = decision_without_person(gate, "--approve-all")
        else:
            self._say("")
            for line in about(gate):
                self._say(f"      {line}")
            decision = decision_on(gate)
        try:
            if isinstance(decision, MissingFiles):
                uploads = [replace(one, named=True) for one in collected(decision.path)]
                given = give_files(gate, owner, uploads, name_as=decision.name_as, how="terminal")
                for remark in given.remarks:
                    self._say(f"      {remark}")
            else:
                decide(gate.pk, owner, decision)
        except InvalidInput as error:
            self._say(f"      {error}")
        except DecisionRefused as error:
            gate.refresh_from_db()
            self._say(f"      {already_decided(gate) if gate.status != GateStatus.OPEN else error}")

    def _say(self, text: str) -> None:
        if not self._quiet:
            self.stdout.write(text)
            self.stdout.flush()

    def _leave(self, engine: Engine, code: int) -> NoReturn:
        engine.stop()
        trace_listener.flush()
        self.stdout.flush()
        sys.stdout.flush()
        os._exit(code)  # threads of the engine may still wait for a model; their leases were given back


def _owner(name: str | None) -> Any:
    if name is None:
        return first_administrator()
    person = get_user_model()._default_manager.filter(username=name, is_active=True).first()
    if person is None:
        raise CommandError(f"There is no user “{name}”.", returncode=2)
    return person


def _plan(owner: Any, file: Path | None, template: str | None) -> Chosen | None:
    """The plan of the options, or None if the planner writes it. Raises InvalidInput."""
    if file and template:
        raise InvalidInput("Give --plan or --template, not both.")
    if template:
        return called(owner, template)
    if file is None:
        return None
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"“{file}” cannot be read: {error.strerror}.") from error
    found = imported(data)
    return Chosen(found.plan, found.reason(file.name))


def collected(folder: Path, include: Collection[str] = ()) -> list[Upload]:
    """The regular files below a folder; links are left out. `include`: paths in it that are meant by name.

    Raises InvalidInput when there are none, or one of those is not there.
    """
    if folder.is_file():
        return [Upload(folder.name, LazyFile(folder))]
    found = [Upload(path, LazyFile(file), named=path in include) for path, file in files_below(folder)]
    missing = sorted(set(include) - {upload.path for upload in found})
    if missing:
        raise InvalidInput(f"--include names “{missing[0]}”, which is not a file in “{folder}”.")
    return found
