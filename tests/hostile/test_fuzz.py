"""Ten thousand hostile requests, or some hundred in CI: no 5xx, no answer after two seconds, memory bounded.

The long form: `PEV_FUZZ_REQUESTS=10000 PEV_FUZZ_SEED=7 uv run pytest -m "" tests/hostile/test_fuzz.py`.
"""

import os
import re
from pathlib import Path

import pytest

from tests.hostile.fuzzing.attack import Site, attack

pytestmark = pytest.mark.slow

REQUESTS = int(os.environ.get("PEV_FUZZ_REQUESTS", "300"))
SEED = int(os.environ.get("PEV_FUZZ_SEED", "20261122"))
MAX_MEGABYTES = 150
"""By which the process may grow at its highest: uploads of a few megabytes, pages, and what is cached."""
_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


@pytest.mark.filterwarnings("ignore")  # hostile requests may warn; what counts is the answer
@pytest.mark.exhaustive
def test_no_request_breaks_the_site_or_holds_it_up(crawled: Site) -> None:
    assert len(crawled.forms) > 8
    Path("/proc/self/clear_refs").write_text("5")  # the peak from now on
    before = _peak()
    report = attack(crawled, REQUESTS, SEED)
    if report.problems:
        pytest.fail("\n\n".join(report.problems[:20]))
    assert report.asked == REQUESTS
    assert {200, 302, 400, 403, 404, 405, 409, 422} <= set(report.statuses)
    assert _peak() - before < MAX_MEGABYTES


def _peak() -> float:
    """The most memory that the process has had, in megabytes."""
    found = _PEAK.search(Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) / 1_000
