"""Libraries of others in `static/vendor/` are what its table says."""

import hashlib
import re

from tests.installation import ROOT

VENDOR = ROOT / "static" / "vendor"


def test_every_file_is_the_one_that_the_table_names() -> None:
    rows = re.findall(r"\| `([^`]+)` \|[^|]*`([^`]+)` \| `([0-9a-f]{64})` \|", (VENDOR / "README.md").read_text())
    named = {name: digest for name, _, digest in rows}
    assert {name: hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() for name in named} == named
    licences = {licence for _, licence, _ in rows}
    there = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*") if path.is_file()}
    assert there == {*named, *licences, "README.md"}


def test_none_of_them_needs_what_the_policy_of_the_pages_refuses() -> None:
    for path in VENDOR.rglob("*.min.js"):
        text = path.read_text()
        assert re.findall(r"\beval\(|new Function\(|sourceMappingURL", text) == [], path.name
