"""`manage.py run` as a person starts it: in a process of its own, on a data folder of its own."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command

from pevsite.setting_values import policy_values
from runs.contracts.base import QuotedEvidence
from runs.evidence.quotes import resolve
from runs.models import Run
from runs.pev.checks.deciding import run_check
from runs.pev.checks.file_exists import FileExists
from runs.pev.checks.material import CheckInput
from tests.fakes.anthropic_answers import Answer, Fail, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.other_plans import DATACLASS, OBJECTIVE, TYPED
from tests.fakes.team import Team, labels_of, plan, step, verdict
from tests.installation import ROOT, Installation
from tests.installation import environ as environment
from tests.integration.finished import Finished
from tests.unit.rehearsal.bench import CONTRACTS

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def run(data: Path, *arguments: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "run", *arguments],
        cwd=ROOT,
        env={
            **{name: value for name, value in environment(data).items() if not name.startswith("ANTHROPIC_")},
            "PEV_REHEARSAL_DELAY": "0",
            **environ,
        },
        input=stdin,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def model(api: FakeAnthropic) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "secret-key"}


@pytest.mark.slow
def test_the_sample_succeeds_with_a_retry_and_verified_evidence(tmp_path: Path, finished: Finished) -> None:
    """On a new installation `pevsite run` makes the tables first, see test_wheel.py."""
    data = finished.copy(tmp_path / "data")
    told, out = finished.result()
    assert told["outcome"] == "succeeded"
    assert {plan["approved_by"] for plan in told["plans"]} == {"admin"}
    assert max(len(step["attempts"]) for step in told["steps"]) == 2
    verified = [sys.executable, "manage.py", "verify"]
    assert "Everything matches" in subprocess.check_output(verified, cwd=ROOT, env=environment(data), text=True)
    sources = dict(CONTRACTS)
    for made in told["files"]:
        content = (out / made["path"]).read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (made["sha256"], made["size"])
        sources[made["path"]] = content
    passed = [result for step in told["steps"] for result in step["attempts"][-1]["verdict"]["results"]]
    assert passed
    for result in passed + told["success_criteria"]:
        assert result["passed"]
        assert any(evidence["verified"] for evidence in result["evidence"])
    assert (out / "report.md").read_text("utf-8").startswith("# ")
    quotes = [
        line.removeprefix("> ").strip()
        for line in sources["review/findings.md"].decode().splitlines()
        if line.startswith("> ")
    ]
    assert len(quotes) > 10
    for quote in quotes:
        found = [
            resolve(QuotedEvidence(source=name, quote=quote), sources).verified
            for name in sources
            if "contracts/" in name
        ]
        assert any(found), quote
    assert run_check(FileExists(kind="file_exists", path="review/findings.md"), CheckInput(sources)).verified


@pytest.mark.slow
@pytest.mark.exhaustive
def test_gates_are_asked_in_the_terminal_while_there_is_one(
    tmp_path: Path, installation: Installation, api: FakeAnthropic
) -> None:
    """What cannot be read, what is left out, and that no sources are needed is said from the beginning."""
    api.script(Team(plan=plan(step("one", complexity="high"))))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a b.md").write_text("The harvest was good. Twelve tons of apples were picked in October.\n")
    (notes / "link").symlink_to("/etc/passwd")
    (notes / "song.mp3").write_bytes(b"ID3\3\0\0")
    (notes / "talk.mp4").write_bytes(b"\0\0\0 ftypisom")
    stdin = "r\nKeep it short.\na\n"
    data = installation.copy(tmp_path / "data")
    given = ["--files", str(notes), "--exclude", "*.mp3", "--no-sources"]
    done = run(data, "Summarise the notes", *given, stdin=stdin, **model(api))
    assert done.returncode == 2, "at the step gate there was nobody to ask any more"
    assert "There is no terminal to ask in" in done.stderr
    assert "Traceback" not in done.stderr
    assert "No sources are needed: no criterion may be about sources.\n" in done.stdout
    assert "admin requested changes to the plan (terminal): Keep it short." in done.stdout
    assert "Version 2 of the plan is ready" in done.stdout
    not_read = "talk.mp4 cannot be read: it is sound or film, which cannot be read."
    assert f"admin submitted the task with 3 files. {not_read} Left out, as a person said: song.mp3.\n" in done.stdout
    assert f"      ! {not_read}\n" in done.stdout
    assert "      ! Left out, as a person said: song.mp3.\n" in done.stdout


@pytest.mark.django_db
@pytest.mark.usefixtures("no_model")
def test_without_a_model_another_task_than_the_sample_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for size in (1, 2, 3):
        (tmp_path / f"{size}.md").write_text("x" * size)
    with pytest.raises(CommandError) as refused:
        call_command("run", "Report the largest of three files", "--files", str(tmp_path), "--approve-all")
    assert (refused.value.returncode, capsys.readouterr().out) == (2, "")
    assert str(refused.value) == (
        "This task needs a model; without a model only the sample contracts and the template “Document review” on "
        "texts and documents can be run, so connect one: set a key (ANTHROPIC_API_KEY) or the base URL "
        "(ANTHROPIC_BASE_URL) of another or a local server that speaks the Messages API, and start pevsite again."
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "the request is empty"),
        (["Review these contracts"], "no file is attached. Name them with --files, or say --no-files"),
        (["Do it", "--files", "/no/such/folder"], "neither a folder nor a file"),
        (["--sample", "poems"], "There is no sample"),
        (["Do it", "--user", "nobody"], "There is no user"),
        (["Do it", "--budget", "plenty"], "--budget cannot be used: Input should be a valid decimal."),
        (["Do it", "--no-files", "--min-catch-rate", "0.9"], "has no current calibration, and this policy asks for"),
        (["Do it", "--template", "novels"], "There is no template “novels”; there are: document-review, "),
        (["Do it", "--plan", "/no/such/plan.json"], "“/no/such/plan.json” cannot be read: No such file"),
        (["Do it", "--plan", "manage.py"], "The plan is not valid JSON"),
        (["Do it", "--plan", "x", "--template", "y"], "Give --plan or --template, not both"),
    ],
)
@pytest.mark.django_db
def test_wrong_use_is_a_sentence_and_makes_no_run(arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence) as refused:
        call_command("run", *arguments)
    assert refused.value.returncode == 2
    assert not Run.objects.exists()


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_plan_written_by_hand_is_carried_out_without_a_planner(
    tmp_path: Path, installation: Installation, api: FakeAnthropic
) -> None:
    api.script(Team())
    written = {
        "title": "Know the leases",
        "steps": [
            {
                "id": 1,
                "title": "Digest",
                "complexity": 2,
                "actions": ["list_files", {"name": "write_file", "params": {"path": "digest.md"}}],
                "acceptance_criteria": [
                    {"text": "It is there.", "check": {"kind": "file_exists", "path": "digest.md"}}
                ],
                "expected_outputs": ["digest.md"],
            }
        ],
        "success_criteria": [{"text": "It is there.", "check": {"kind": "min_bytes", "path": "digest.md", "min": 20}}],
    }
    (tmp_path / "plan.json").write_text(json.dumps(written))
    given = ["--files", str(ROOT / "runs/samples"), "--plan", str(tmp_path / "plan.json")]
    data = installation.copy(tmp_path / "data")
    done = run(data, "Digest the leases", *given, "--no-sources", "--approve-all", "--json", **model(api))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [(plan["version"], plan["reason"]) for plan in told["plans"]] == [
        (
            1,
            "Imported from “plan.json”. Read title as goal, id as step_id, complexity as estimated_complexity. "
            "Complexity 2 is low (step 1). "
            "2 criteria do not say what they are about: the output, since no sources are needed.",
        )
    ]
    assert {event["data"]["role"] for event in told["events"] if event["kind"] == "model_called"} == {
        "executor",
        "synthesizer",
    }


@pytest.mark.slow
@pytest.mark.parametrize("saved", [DATACLASS, TYPED, OBJECTIVE], ids=["dataclass", "typed", "objective"])
@pytest.mark.exhaustive
def test_plans_that_other_tools_saved_are_taken(
    tmp_path: Path, installation: Installation, api: FakeAnthropic, saved: dict[str, Any]
) -> None:
    api.script(Team())
    (tmp_path / "plan.json").write_text(json.dumps(saved))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "nda.md").write_text("Either party may leave.\n")
    given = [
        "--files",
        str(tmp_path / "files"),
        "--plan",
        str(tmp_path / "plan.json"),
        "--no-sources",
        "--min-document-bytes",
        "0",
    ]
    done = run(installation.copy(tmp_path / "data"), "Do it", *given, "--approve-all", "--json", **model(api))
    told = json.loads(done.stdout)
    # “All documents reviewed” is counted, and nothing that is written names the one document
    ended = (3, "partial") if saved is DATACLASS else (0, "succeeded")
    assert (done.returncode, told["outcome"]) == ended, done.stderr
    [reason] = [plan["reason"] for plan in told["plans"]]
    assert reason.startswith("Imported from “plan.json”. ")
    assert "Left out" in reason


UNUSABLE = (
    "“attempts” in PEV_POLICY cannot be used: Input should be less than or equal to 10. Correct it, or leave it out."
)


@pytest.mark.django_db
def test_with_a_policy_that_cannot_be_used_there_is_no_run(settings: Any) -> None:
    settings.POLICY = policy_values("attempts=99")
    with pytest.raises(CommandError) as refused:
        call_command("run", "Do it", "--no-files")
    assert (refused.value.returncode, str(refused.value)) == (2, UNUSABLE)
    assert not Run.objects.exists()


@pytest.mark.slow
def test_with_a_policy_that_cannot_be_used_nothing_is_served(tmp_path: Path, installation: Installation) -> None:
    environ = environment(installation.copy(tmp_path), PEV_POLICY="attempts=99")
    serve = [sys.executable, "manage.py", "serve", "--port", "0"]
    done = subprocess.run(serve, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode != 0
    assert done.stderr.endswith(f"{UNUSABLE}\n")


@pytest.mark.slow
@pytest.mark.exhaustive
def test_an_accepted_gap_exits_3(tmp_path: Path, installation: Installation, api: FakeAnthropic) -> None:
    def never(request: Request, right: Answer) -> Answer:
        failed = verdict(labels_of(request), "", "", passed=False, action="retry")
        return Say(json.dumps(failed)) if "two says what was found" in request.last_text else right

    api.script(Team(plan=plan(step("one"), step("two")), verifier=never))
    policy = ["--min-document-bytes", "0", "--attempts", "1", "--replans", "0", "--planner-effort", "low"]
    done = run(installation.copy(tmp_path / "data"), "Do it", *policy, "--approve-all", "--json", **model(api))
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)
    assert told["outcome"] == "partial"
    asked = told["policy"]
    assert (asked["attempts"], asked["replans"], asked["models"]["planner"]["effort"]) == (1, 0, "low")
    assert any("accepted with open points" in gap for gap in told["gaps"])
    assert told["answer"].startswith("PARTIAL: this is not all that was asked for.\n\n- Step “Do two” was accepted")
    assert told["judged_answer"] == "The result is done."
    assert "secret-key" not in done.stdout + done.stderr
    data = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert b"secret-key" not in data


@pytest.mark.slow
@pytest.mark.exhaustive
def test_an_error_that_nobody_looks_into_ends_as_failed(
    tmp_path: Path, installation: Installation, api: FakeAnthropic
) -> None:
    """Nobody is there to say what should be different, so the planner is not asked for another plan."""
    api.script(Team(plan=plan(step("one")), executor=lambda _, __: Fail(403, "permission_error", "Not allowed.")))
    done = run(installation.copy(tmp_path / "data"), "Do it", "--approve-all", "--json", **model(api))
    told = json.loads(done.stdout)
    assert (done.returncode, told["outcome"], len(told["plans"])) == (1, "failed", 1)
    host = urlsplit(api.url).netloc
    refused = f"The API key may not use this model at {host} (403). Check ANTHROPIC_API_KEY."
    assert told["failure"] == f"Given up after: {refused}"
    assert told["requests"] == []


@pytest.mark.slow
@pytest.mark.exhaustive
def test_files_with_odd_names_do_not_keep_the_others_from_a_run(tmp_path: Path, installation: Installation) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "lease.md").write_text("The Tenant shall pay a fee.\n")
    (given / "Meeting 10:15.txt").write_text("All is well.\n")
    arguments = ["Go.", "--files", str(given), "--template", "document-review", "--approve-all", "--json"]
    data = installation.copy(tmp_path / "data")
    refused = run(data, *arguments)
    assert (refused.returncode, "Traceback" in refused.stderr) == (2, False)
    assert "--odd-names leave-out, or --odd-names rename" in refused.stderr
    done = run(data, *arguments, "--odd-names", "leave-out")
    assert done.returncode == 0, done.stderr
    [submitted] = [event for event in json.loads(done.stdout)["events"] if event["kind"] == "submitted"]
    assert submitted["data"]["files"] == 1
    assert submitted["data"]["not_read"][0].startswith("“Meeting 10:15.txt” was not taken. ")
