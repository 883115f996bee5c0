"""Field codes: their names, arguments and switches, and what is shown of fields without a result."""

import pytest

from runs.documents.reading.fields import FieldCode


@pytest.mark.parametrize(
    ("code", "name", "argument", "switches"),
    [
        (r" REF _Ref42 \r \h ", "REF", "_Ref42", {"r": "", "h": ""}),
        (r'listnum "Legal List" \l 3 \s1', "LISTNUM", "Legal List", {"l": "3", "s": "1"}),
        (r"LISTNUM \L 2", "LISTNUM", "", {"l": "2"}),
        (r"REF a \n \* MERGEFORMAT", "REF", "a", {"n": "", "*": "MERGEFORMAT"}),
        (r'SYMBOL 167 \f "Wing dings" \s 12', "SYMBOL", "167", {"f": "Wing dings", "s": "12"}),
        ('REF "not closed', "REF", "not closed", {}),
        ("", "", "", {}),
    ],
)
def test_a_code_has_a_name_an_argument_and_switches(
    code: str, name: str, argument: str, switches: dict[str, str]
) -> None:
    read = FieldCode(code)
    assert (read.name, read.argument, read.switches) == (name, argument, switches)


@pytest.mark.parametrize(
    ("code", "number"), [(r"LISTNUM \l 5", 5), (r"LISTNUM \l x", None), ("LISTNUM", None), (r"LISTNUM \l ²", None)]
)
def test_a_switch_may_have_a_number(code: str, number: int | None) -> None:
    assert FieldCode(code).number("l") == number


@pytest.mark.parametrize(
    ("code", "shown", "left_out"),
    [
        (r'SYMBOL 252 \f "Wingdings"', "✓", ""),
        (r'SYMBOL 0xFC \f "Wingdings"', "✓", ""),
        ("SYMBOL 228", "ä", ""),
        ("SYMBOL x", "\ufffd", ""),
        ("MACROBUTTON NoMacro [Click here]", "[Click here]", ""),
        ("gotobutton Annex see the annex", "see the annex", ""),
        ("MACROBUTTON NoMacro", "", ""),
        ("AUTONUM", "", "number that Word counts"),
        (r"LISTNUM \l 2", "", "number that Word counts"),
        (r"EQ \r(2;x)", "", "formula"),
        ("ADVANCE", "", ""),
        (r'XE "Rent"', "", ""),
    ],
)
def test_fields_without_a_result_may_show_something(code: str, shown: str, left_out: str) -> None:
    assert (FieldCode(code).displayed_text, FieldCode(code).left_out) == (shown, left_out)
