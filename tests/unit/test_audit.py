"""The audit of dependencies fails for a vulnerability, and not for the want of a network. `uv` is the test's."""

import subprocess
from pathlib import Path

import pytest

AUDIT = Path(__file__).resolve().parents[2] / ".ci" / "audit"
OFFLINE = "error: Request failed after 1 retries\n  cause: error sending request for url (https://api.osv.dev/)"


@pytest.mark.parametrize(
    ("said", "code", "told", "passes"),
    [
        ("Resolved 84 packages", 0, "No package of uv.lock has a known vulnerability.", True),
        (OFFLINE, 2, "Not audited: no database of vulnerabilities can be reached from here.", True),
        ("django 6.1.0 has CVE-2026-1", 1, "django 6.1.0 has CVE-2026-1", False),
        ("error: The lockfile needs to be updated", 2, "error: The lockfile needs to be updated", False),
    ],
)
def test_what_becomes_of_an_audit(tmp_path: Path, said: str, code: int, told: str, passes: bool) -> None:
    uv = tmp_path / "uv"
    uv.write_text(f"#!/bin/sh\ncat >&2 <<'.'\n{said}\n.\nexit {code}\n")
    uv.chmod(0o755)
    done = subprocess.run(
        [AUDIT], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    assert (told in done.stdout, done.returncode == 0) == (True, passes)


def test_actions_are_named_by_commit() -> None:
    workflow = (AUDIT.parents[1] / ".github/workflows/ci.yml").read_text()
    uses = [line.split("uses:")[1].split("#")[0].strip() for line in workflow.splitlines() if "uses:" in line]
    assert [len(action.partition("@")[2]) for action in uses] == [40, 40]
