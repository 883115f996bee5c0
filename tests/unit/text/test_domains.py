"""Web addresses in texts, and sites as people list them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.errors import InvalidInput
from runs.text.domains import addresses_in, normal_address, sites


@pytest.mark.parametrize(
    ("text", "host", "may"),
    [
        ("", "example.org", False),
        ("example.org", "example.org", True),
        ("example.org", "www.example.org", True),
        ("example.org", "badexample.org", False),
        ("example.org", "example.org.evil.net", False),
        ("*", "anything.at.all", True),
        ("* -evil.net", "www.evil.net", False),
        ("* -evil.net", "evil.net", False),
        ("*.Example.ORG.", "a.example.org", True),
        ("example.org, gov.uk; bund.de+x.y", "www.gov.uk", True),
        ("-example.org", "example.net", False),
        ("exämple.org", "xn--exmple-cua.org", True),
    ],
)
def test_which_hosts_are_meant(text: str, host: str, may: bool) -> None:
    assert sites(text).has(host) == may


@pytest.mark.parametrize(
    "text", ["https://example.org", "example.org/path", "a b..c", "-*", "user@example.org", "a:80", "1e9"]
)
def test_what_is_no_site_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        sites(text)


def test_too_many_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 200"):
        sites(" ".join(f"s{n}.org" for n in range(201)))


def test_what_is_beyond_others() -> None:
    assert sites("a.org b.org www.c.org").beyond(sites("a.org c.org")) == ["b.org"]
    assert sites("* x.org").beyond(sites("a.org")) == ["x.org"]
    assert sites("* x.org").beyond(sites("")) == ["*", "x.org"]


def test_for_people() -> None:
    assert sites("example.org *.gov.uk").words == "example.org, gov.uk"
    assert sites("* -evil.net").words == "any site, but not evil.net"
    assert sites("-evil.net").words == ""


@given(st.lists(st.from_regex(r"-?(?:[a-z0-9]{1,5}\.){1,3}[a-z]{2,4}", fullmatch=True), max_size=5))
def test_written_again_it_is_the_same(parts: list[str]) -> None:
    found = sites(" ".join(parts))
    assert sites(str(found)) == found


@pytest.mark.parametrize(
    ("chosen", "installed", "both", "mixed"),
    [
        ("*", "*", "*", False),
        ("*", "gov.uk example.org", "gov.uk example.org", False),
        ("www.gov.uk bund.de", "gov.uk", "www.gov.uk", False),
        ("* -a.org", "* -b.org", "* -a.org -b.org", False),
        ("a.org", "* -b.org", "a.org", False),
        ("a.org", "* -x.a.org", "a.org -x.a.org", True),
        ("a.org b.org", "* -a.org", "b.org", False),
        ("", "*", "", False),
        ("*", "", "", False),
    ],
)
def test_what_two_lists_allow_together(chosen: str, installed: str, both: str, mixed: bool) -> None:
    found = sites(chosen).within(sites(installed))
    assert (str(found), found.is_mixed) == (both, mixed)


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
