"""The audit of dependencies fails for a vulnerability, and where nothing can say of one. `uv` is the test's."""

import subprocess
from pathlib import Path

import pytest

AUDIT = Path(__file__).resolve().parents[2] / ".ci" / "audit"
OFFLINE = "error: Request failed after 1 retries\n  cause: error sending request for url (https://api.osv.dev/)"

NOT_AUDITED = 75


@pytest.mark.parametrize(
    ("said", "code", "told", "status"),
    [
        ("Resolved 84 packages", 0, "No package of uv.lock has a known vulnerability.", 0),
        (OFFLINE, 2, "NOT AUDITED: no database of vulnerabilities can be reached from here.", NOT_AUDITED),
        ("django 6.1.0 has CVE-2026-1", 1, "django 6.1.0 has CVE-2026-1", 1),
        (f"django 6.1.0 has GHSA-1\n{OFFLINE}", 1, "django 6.1.0 has GHSA-1", 1),
        ("error: operation timed out", 2, "error: operation timed out", 1),
        ("", 2, "", 1),
        ("error: The lockfile needs to be updated", 2, "error: The lockfile needs to be updated", 1),
    ],
)
def test_what_becomes_of_an_audit(tmp_path: Path, said: str, code: int, told: str, status: int) -> None:
    uv = tmp_path / "uv"
    uv.write_text(f"#!/bin/sh\ncat >&2 <<'.'\n{said}\n.\nexit {code}\n")
    uv.chmod(0o755)
    done = subprocess.run(
        [AUDIT], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    assert (told in done.stdout, done.returncode) == (True, status)


@pytest.mark.parametrize(
    ("status", "required", "passes"), [(0, "", True), (75, "", True), (75, "1", False), (1, "", False)]
)
def test_a_run_without_an_audit_passes_only_where_none_is_required(
    tmp_path: Path, status: int, required: str, passes: bool
) -> None:
    audit = tmp_path / "audit"
    audit.write_text(f"#!/bin/sh\nexit {status}\n")
    audit.chmod(0o755)
    run = (AUDIT.parent / "run").read_text()
    begin = run.index("audited() {")
    function = run[begin : run.index("\n}\n", begin) + 3].replace(".ci/audit", str(audit))
    script = f"set -e\nFOLDER={tmp_path}\n{function}audited"
    done = subprocess.run(
        ["bash", "-c", script], env={"AUDIT_REQUIRED": required, "PATH": "/usr/bin:/bin"}, check=False
    )
    assert done.returncode == (0 if passes else status)
    assert (tmp_path / "not-audited").exists() == (passes and status != 0)


def test_actions_are_named_by_commit() -> None:
    workflow = (AUDIT.parents[1] / ".github/workflows/ci.yml").read_text()
    uses = [line.split("uses:")[1].split("#")[0].strip() for line in workflow.splitlines() if "uses:" in line]
    assert [len(action.partition("@")[2]) for action in uses] == [40, 40]
