"""Options of the commands, as somebody may give them: each that cannot be used is refused in one sentence, at once."""

from pathlib import Path
from random import Random

import pytest
from django.core.management import CommandError, call_command

from runs.errors import InvalidInput
from runs.management.policy_options import POLICY_OPTIONS, option
from runs.models import Run
from runs.submission.policy_presets import preset_policy, with_texts
from tests import factories
from tests.hostile.bounds import limited
from tests.hostile.fuzzing import values

pytestmark = pytest.mark.slow

MAX_SECONDS = 0.5
UNFIT = ("-1", "nan", "1e999990", "1e400", "9" * 5_000, "\x1b[2J")
TEXTS = ("../../etc/passwd", "' OR 1=1 --\x1b[2J", "🙂" * 3_000)
"""Few: each command looks at all migrations first, which takes longer than what is tested."""


def refused(*arguments: str) -> str:
    """The sentence of the refusal, which has to come before anything is stored."""
    with limited(MAX_SECONDS), pytest.raises(CommandError) as raised:
        call_command(*arguments)
    assert Run.objects.count() == 0
    return str(raised.value)


@pytest.fixture(autouse=True)
def _connected(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")
    factories.alice()


def test_a_policy_that_is_none() -> None:
    """Each as the command reads it; one of them by the command."""
    given = [("budget", text) for text in UNFIT]
    given += [(name, "1e999990") for name in POLICY_OPTIONS if not name.endswith(("_model", "_verifier"))]
    given += [("same_model_verifier", "1e999990")]
    for name, text in given:
        with limited(MAX_SECONDS), pytest.raises(InvalidInput) as raised:
            with_texts(preset_policy("balanced"), {name: text}, option)
        assert str(raised.value).startswith(f"{option(name)} cannot be used: ")
    sentence = refused("run", "Sort it.", "--user=alice", "--attempt-seconds=1e999990")
    assert sentence.startswith("--attempt-seconds cannot be used: ")


def test_names_that_nothing_has() -> None:
    for name in ("--template", "--sample", "--user"):
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
