"""Web addresses in texts."""

import pytest

from runs.text.addresses import addresses_in, normal_address


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("See https://a.example/b.", ["https://a.example/b"]),
        ("[here](https://a.example/b_(c)) and (http://d.example)", ["https://a.example/b_(c)", "http://d.example"]),
        (
            "<https://a.example/?q=1&r=2#top>, “https://b.example”",
            ["https://a.example/?q=1&r=2#top", "https://b.example"],
        ),
        ("ftp://a.example and a.example", []),
        ("((https://a.example/b))).", ["https://a.example/b"]),
    ],
)
def test_an_address_ends_before_the_punctuation_behind_it(text: str, addresses: list[str]) -> None:
    assert [text[start:end] for start, end in addresses_in(text)] == addresses


def test_what_leads_to_the_same_page_is_the_same() -> None:
    same = ["https://A.example:443/b/", "https://a.example/b#top", "HTTPS://a.example/b"]
    assert {normal_address(one) for one in same} == {"https://a.example/b"}
    assert normal_address("https://a.example/B") != normal_address("https://a.example/b")
