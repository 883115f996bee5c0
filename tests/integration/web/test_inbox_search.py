"""Search, filters and order of the inbox: of three runs those are listed that fit, in the order that was asked for."""

from __future__ import annotations

import pytest
from django.test import Client

from runs.models import Run
from tests import factories
from tests.integration.web.test_inbox import counts, page, rows

pytestmark = pytest.mark.services


def titled(run: Run, title: str) -> Run:
    Run.objects.filter(pk=run.pk).update(title=title)
    return run


@pytest.fixture(scope="module")
def numbers(rows_of_module: None) -> list[int]:
    """One waits, one works, one ended as partial; alphabetically the other way round."""
    made = (
        titled(factories.awaiting_plan(), "Zebra crossing 100% done"),
        titled(factories.failed_attempt(), "mango_tree"),
        titled(factories.finished_partial(), "Apple \\ pie"),
    )
    return [run.pk for run in made]


@pytest.fixture
def three(numbers: list[int], db: None) -> list[Run]:
    return [Run.objects.get(pk=number) for number in numbers]


def found(client: Client, **asked: str) -> list[str]:
    return list(Run.objects.filter(pk__in=rows(page(client, show="all", **asked))).values_list("title", flat=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "titles"),
    [
        ("zebra", ["Zebra crossing 100% done"]),
        ("done zebra", ["Zebra crossing 100% done"]),
        ("done mango", []),
        ("%", ["Zebra crossing 100% done"]),
        ("_", ["mango_tree"]),
        ("\\", ["Apple \\ pie"]),
        ("ma%ee", []),
        ("'; DROP TABLE runs_run; --", []),
        ("zebra\0", ["Zebra crossing 100% done"]),
        ("9" * 30, []),
        ("²", []),
        ("x" * 10_000, []),
        (" ".join(["e"] * 5_000), ["Apple \\ pie", "mango_tree", "Zebra crossing 100% done"]),
    ],
)
def test_words_are_looked_for_as_they_are(
    alice_client: Client, three: list[Run], words: str, titles: list[str]
) -> None:
    assert found(alice_client, q=words) == titles


@pytest.mark.slow
def test_a_run_is_found_by_its_number_and_by_its_request(alice_client: Client, three: list[Run]) -> None:
    mango = three[1]
    for words in (str(mango.pk), f"#{mango.pk}", "mango"):
        assert mango.pk in rows(page(alice_client, show="all", q=words))
    assert len(found(alice_client, q=mango.request.split()[0])) == 3


@pytest.mark.parametrize(
    ("asked", "titles"),
    [
        ({"state": "awaiting_approval"}, ["Zebra crossing 100% done"]),
        ({"state": "executing"}, ["mango_tree"]),
        ({"state": "partial"}, ["Apple \\ pie"]),
        ({"state": "paused"}, []),
        ({"person": "alice", "state": "partial"}, ["Apple \\ pie"]),
        ({"template": "Document review"}, ["mango_tree"]),
        ({"template": "Of nobody"}, []),
        ({"since": "2021-01-01", "until": "2021-12-31"}, ["mango_tree"]),
        ({"until": "2021-01-01"}, []),
        ({"until": "2021-06-30"}, ["mango_tree"]),
    ],
)
def test_filters_leave_out_what_does_not_fit(
    alice_client: Client, three: list[Run], asked: dict[str, str], titles: list[str]
) -> None:
    Run.objects.filter(pk=three[1].pk).update(template="Document review", created_at="2021-06-30T23:59:59Z")
    assert found(alice_client, **asked) == titles


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"since": "2021-02-31"}, "“2021-02-31” is not a date."),
        ({"until": "9999-12-31"}, "“9999-12-31” is not a date."),
        ({"since": "0001-01-01"}, "“0001-01-01” is not a date."),
        ({"state": "happy"}, "There is no such state to filter by, so this list is not filtered by it."),
        ({"person": "charlie"}, "There is no such person to filter by, so this list is not filtered by it."),
        ({"template": "x" * 121}, "There is no such template to filter by, so this list is not filtered by it."),
    ],
)
def test_a_filter_that_cannot_be_used_is_said_and_left_out(
    alice_client: Client, three: list[Run], asked: dict[str, str], says: str
) -> None:
    text = page(alice_client, show="all", **asked)
    assert says in text
    assert len(rows(text)) == 3


def test_a_search_that_is_too_long_is_kept_whole_and_says_so(alice_client: Client, three: list[Run]) -> None:
    text = page(alice_client, q="e" * 203)
    assert "The search is too long by 3 characters; 200 fit. Only those are looked for." in text
    assert f'value="{"e" * 203}"' in text


@pytest.mark.parametrize(
    ("sort", "order"),
    [("newest", [2, 1, 0]), ("oldest", [0, 1, 2]), ("title", [2, 1, 0]), ("waiting", [0, 2, 1]), ("ended", [2, 1, 0])],
)
def test_a_list_is_sorted(alice_client: Client, three: list[Run], sort: str, order: list[int]) -> None:
    assert rows(page(alice_client, show="all", sort=sort)) == [three[place].pk for place in order]


@pytest.mark.parametrize("asked", [{"show": "nothing"}, {"sort": "by heart"}, {"page": "none"}, {"page": "-1"}])
def test_nonsense_in_the_address_is_as_if_it_were_not_there(
    alice_client: Client, three: list[Run], asked: dict[str, str]
) -> None:
    assert rows(page(alice_client, **asked)) == [three[0].pk]


def test_archived_runs_are_listed_where_they_are_asked_for(alice_client: Client, three: list[Run]) -> None:
    run = three[2]
    Run.objects.filter(pk=run.pk).update(archived_at=run.finished_at)
    assert (found(alice_client), counts(page(alice_client))) == (
        ["mango_tree", "Zebra crossing 100% done"],
        [1, 1, 0, 2],
    )
    assert found(alice_client, archived="1") == ["Apple \\ pie"]
