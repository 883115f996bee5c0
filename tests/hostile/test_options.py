"""Options of the commands, as somebody may give them: each that cannot be used is refused in one sentence, at once."""

import time
from pathlib import Path
from random import Random

import pytest
from django.core.management import CommandError, call_command

from runs.management.policy_options import POLICY_OPTIONS, option
from runs.models import Run
from tests import factories
from tests.hostile.fuzzing import values

pytestmark = pytest.mark.slow

MAX_SECONDS = 2.0
UNFIT = ("-1", "nan", "1e999990", "1e400", "9" * 5_000, "\x1b[2J")
TEXTS = ("../../etc/passwd", "' OR 1=1 --\x1b[2J", "🙂" * 3_000)
"""Few: each command looks at all migrations first, which takes longer than what is tested."""


def refused(*arguments: str) -> str:
    """The sentence of the refusal, which has to come before anything is stored."""
    began = time.thread_time()
    with pytest.raises(CommandError) as raised:
        call_command(*arguments)
    assert time.thread_time() - began < MAX_SECONDS
    assert Run.objects.count() == 0
    return str(raised.value)


@pytest.fixture(autouse=True)
def _connected(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")
    factories.alice()


@pytest.mark.parametrize("budget", UNFIT)
def test_a_budget_that_is_none(budget: str) -> None:
    assert refused("run", "Sort it.", "--user=alice", f"--budget={budget}")


@pytest.mark.parametrize("name", [name for name in POLICY_OPTIONS if not name.endswith("_model")])
def test_a_policy_that_is_none(name: str) -> None:
    sentence = refused("run", "Sort it.", "--user=alice", f"{option(name)}=1e999990")
    assert sentence.startswith(f"{option(name)} cannot be used: ")


@pytest.mark.parametrize("name", ["--template", "--sample", "--user"])
def test_names_that_nothing_has(name: str) -> None:
    for text in TEXTS:
        assert refused("run", "Sort it.", f"{name}={text}")


def test_plans_that_are_none(tmp_path: Path) -> None:
    random = Random(20261122)
    file = tmp_path / "plan.json"
    plan = {"goal": "Sort it.", "steps": 3, "success_criteria": [], "context": {}, "rollback_strategy": ""}
    for _ in range(6):
        file.write_text(values.mutated_json(plan, random), "utf-8", "surrogatepass")
        assert refused("run", "Sort it.", "--user=alice", f"--plan={file}")


def test_folders_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "none", tmp_path / "loop", tmp_path / ("a" * 300), "/dev/zero", "/proc/self/mem"):
        assert refused("run", "Sort it.", "--user=alice", f"--files={path}")


def test_people_whom_nobody_knows() -> None:
    for action, text in zip(("link", "deactivate", "administrator"), TEXTS, strict=True):
        assert refused("people", action, "--", text)
