"""Names as far as their spelling shows them."""

from __future__ import annotations

import pytest

from runs.text.names import names_in, words_of_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The tenant is Banque Inventee.", ["Banque Inventee"]),
        ("The Landlord Anna Weber signs.", ["Landlord Anna Weber"]),
        ("It was sold to Marie de la Tour in May.", ["Marie de la Tour"]),
        ("Acme Ltd. and Weber AG agree.", ["Acme Ltd. and Weber AG"]),
        ("Der Mieter ist Jörg Müller-Lüdenscheid.", ["Jörg Müller-Lüdenscheid"]),
        ("Société d’Énergie pays Van Houten BV", ["Van Houten BV"]),
        ("# Executive Summary\n\nAll is well.", []),
        ("**Next Steps** and `Some Code`", []),
        ("Open Points:\n- none", []),
        ("Weber pays. The Tenant pays.", []),
        ("| Name | Rent |\n|---|---|\n| Anna Novak | 2 |", ["Anna Novak"]),
        ("", []),
    ],
)
def test_what_is_a_name(text: str, names: list[str]) -> None:
    found = list(names_in(text))
    assert [one.text for one in found] == names
    assert [text[one.start : one.end] for one in found] == names


def test_the_words_of_a_name_are_known_in_every_spelling() -> None:
    assert words_of_names("Jo\u0308rg MÜLLER") == words_of_names("Jörg Mü\u00adller") == {"jörg", "müller"}
