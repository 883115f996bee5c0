"""Files that must be JSON."""

from runs.pev.checks.json_valid import JsonValid
from tests.unit.pev.checks.outcomes import outcome


def test_json_valid() -> None:
    check = JsonValid(kind="json_valid", path="a.json")
    assert outcome(check, b'\xef\xbb\xbf{"a": 1}') == (True, "a.json is valid JSON")
    expected = "a.json is not valid JSON: Expecting value, line 2, column 6"
    assert outcome(check, '{\n"a": }') == (False, expected)
    assert outcome(check, "[NaN]") == (False, "a.json is not valid JSON: NaN is not JSON")
    assert not outcome(check, "9" * 5_000)[0]
    assert outcome(check, "[" * 200_000) == (False, "a.json is not valid JSON: it is nested too deeply")
