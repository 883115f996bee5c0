"""Calls that a service has made itself: paired with their results over several replies, whatever shape these have."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.contracts.ports import Ask, ByService, Reply, ToolSpec
from runs.enums import Effect
from runs.errors import InvalidInput
from runs.pev.conversation.served import MAX_SERVED, ServiceCalls
from runs.text.domains import sites
from tests.fakes.anthropic_serving import found, output, page, pdf_page, results, said, use
from tests.unit.pev.scripted import ask

A = "https://a.org/x"


def offering(listed: str = "*", total: int = 8) -> Ask:
    names = ("code_execution", "web_fetch", "web_search")
    service = ByService(2, total, sites(listed))
    return Ask(**{**vars(ask()), "tools": tuple(ToolSpec(name, "", {}, Effect.READS_WEB, service) for name in names)})


def calls(*replies: Any, listed: str = "*", window: int | None = None) -> list[list[tuple[str, bool, str]]]:
    served, asked = ServiceCalls(window, read), offering(listed)
    turns = [served.calls(asked, Reply(tuple(one), "", "")) for one in replies]
    return [[(use.id, result.is_error, result.text) for use, result in turn] for turn in turns]


def read(address: str, data: bytes) -> str:
    """What stands in for PDF files here is text, or cannot be read."""
    if data.startswith(b"locked"):
        raise InvalidInput(f"{address} is locked.")
    return data.decode()


def search(id_: str = "s1", query: str = "q") -> dict[str, Any]:
    return use(id_, "web_search", query=query)


def test_a_search_shows_title_address_age_and_what_is_cited_of_it() -> None:
    (((id_, wrong, text),),) = calls(
        [
            search(),
            results("s1", found(A, "Facts", "May 2026"), found("https://b.org", "Other")),
            said("So.", (A, "12 %")),
        ]
    )
    head, opening, *body, closing = text.splitlines()
    assert (id_, wrong, head, body) == (
        "s1",
        False,
        "2 found for “q”",
        ["Facts", A, "May 2026", "12 %", "Other", "https://b.org"],
    )
    assert (opening.startswith("<found-"), closing) == (True, opening.replace("<", "</"))


def test_a_result_may_come_with_a_later_reply_and_stands_in_the_order_of_results() -> None:
    first = [search("s1"), search("s2"), use("f1", "web_fetch", url=A)]
    second = [page("f1", A, "Text."), results("s2")]
    assert [[one[0] for one in turn] for turn in calls(first, second, [results("s1")])] == [[], ["f1", "s2"], ["s1"]]


@pytest.mark.parametrize(
    ("data", "head", "body"),
    [
        (b"Ten.\nTwelve.", f"{A}, a PDF file", ["Ten.", "Twelve."]),
        (b" \n", f"{A}, a PDF file without text: only the model has seen it", [" ", ""]),
        (b"locked", f"{A}: only the model has seen it. {A} is locked.", [""]),
        (None, f"{A}, whose bytes were damaged on the way: only the model has seen it", [""]),
    ],
)
def test_of_a_pdf_file_its_text_is_what_was_found(data: bytes | None, head: str, body: list[str]) -> None:
    made = pdf_page("f1", A, data or b"")
    if data is None:
        made["content"]["content"]["source"]["data"] = "no base 64"
    (((_, wrong, text),),) = calls([use("f1", "web_fetch", url=A), made])
    first, _, *lines, _ = text.split("\n")
    assert (wrong, first, lines) == (False, head, body)


def test_ids_count_once() -> None:
    twice = [search("s1"), search("s1", "other"), results("s1", found(A, "One")), results("s1", found(A, "Two"))]
    ((only,), after) = calls(twice, [search("s1"), results("s1", found(A, "Three"))])
    assert ("One" in only[2], "for “q”" in only[2], after) == (True, True, [])


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        (output("s1", "1"), "The service answered with something else: “code_execution_tool_result”."),
        ({"type": "web_search_tool_result", "tool_use_id": "s1", "content": {"error_code": "x\ny"}}, "“x y”"),
    ],
)
def test_what_is_no_result_of_this_call_is_an_error(block: dict[str, Any], sentence: str) -> None:
    (((_, wrong, text),),) = calls([search(), block])
    assert (wrong, sentence in text) == (True, True)


def test_of_other_sites_nothing_is_shown() -> None:
    other = found("https://evil.net/", "Bad words")
    searched, read, forged = calls(
        [search(), results("s1", other, found("https://www.a.org", "Good"), found("file:///a.org", "Local"))],
        [use("f1", "web_fetch", url="https://evil.net"), page("f1", "https://evil.net", "Bad words")],
        [said("So.", ("https://evil.net/", "Bad words"))],
        listed="a.org",
    )
    assert searched[0][2].startswith("1 found for “q”; 2 of other sites left out\n")
    assert "Bad words" not in searched[0][2]
    assert read == [("f1", True, "The service answered with a page of a site that was not allowed.")]
    assert forged == []


def test_a_page_is_its_text_cut_where_it_is_long() -> None:
    (((_, wrong, text),),) = calls([use("f1", "web_fetch", url=A), page("f1", A, "x" * 90_000)])
    assert (wrong, text.splitlines()[0], text.splitlines()[-1]) == (False, A, "(cut: it has 90,000 characters)")
    other = page("f1", A, "") | {}
    other["content"]["content"]["source"] = {"type": "url", "url": A}
    (((_, _, unread),),) = calls([use("f1", "web_fetch", url=A), other])
    assert unread.startswith(f"{A}, which is no text: only the model has seen it\n")


def test_what_code_printed_and_how_it_ended() -> None:
    shown = {"type": "text_editor_code_execution_view_result", "content": "1: x = 1", "file_type": "text"}
    (one, two, three) = calls(
        [use("c1", "code_execution", code="1/0"), output("c1", "Oh.", 1)],
        [
            use("b1", "bash_code_execution", command="ls"),
            output("b1", "a.csv\n") | {"type": "bash_code_execution_tool_result"},
        ],
        [
            use("e1", "text_editor_code_execution", command="view", path="a.py"),
            {"type": "text_editor_code_execution_tool_result", "tool_use_id": "e1", "content": shown},
        ],
    )
    assert (one[0][1], one[0][2].splitlines()[0]) == (True, "Ended with status 1")
    assert (two[0][1], two[0][2].splitlines()[2]) == (False, "a.csv")
    assert (three[0][1], three[0][2].splitlines()[0], three[0][2].splitlines()[2]) == (False, "Done", "1: x = 1")


def test_no_more_are_taken_down_than_are_carried_out_of_others() -> None:
    many = [block for number in range(200) for block in (search(f"s{number}"), results(f"s{number}"))]
    assert len(calls(many)[0]) == MAX_SERVED


def test_used_up_is_what_one_more_reply_could_exceed() -> None:
    served = ServiceCalls(None, read)
    for number in range(7):
        assert served.used_up(offering()) == (number == 7)
        served.calls(offering(), Reply((search(f"s{number}"),), "", ""))
    assert served.used_up(offering())
    assert not served.used_up(ask()), "where they are not offered"


ANYTHING: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "url", "content", "x"]), inner)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(
                    ["text", "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "x_tool_result"]
                )
            },
            optional={
                name: ANYTHING | st.sampled_from(["s1", "web_search", "web_fetch"])
                for name in ("id", "tool_use_id", "name", "input", "content", "citations")
            },
        ),
        max_size=6,
    )
)
def test_whatever_a_service_sends_is_read_without_an_error(blocks: list[Any]) -> None:
    for turn in calls(blocks, blocks):
        assert all(isinstance(text, str) for _, _, text in turn)
