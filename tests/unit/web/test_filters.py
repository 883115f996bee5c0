"""Words, sizes, times and money in templates."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from runs.text.diff import DiffPiece
from runs.web.templatetags.pev import badge, in_words, marked, offset, seconds, size, split_at, tone, usd, words


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1 kB"),
        (12_345, "12.3 kB"),
        (200_000_000, "200 MB"),
        (999_900, "1 MB"),
    ],
)
def test_size(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Read each file.", "Read each file."),
        ("Read each file. Then list all the parties.", "Read each file."),
        ("Read it. List it. Then sum up, e.g. the amounts.", "Read it. List it."),
        ("Read it now (all of it!) Then list it there.", "Read it now (all of it!)"),
        ("Read the leases: each of them, and list every party.", "Read the leases:"),
        ("Do it. Then list each of the parties of the lease, and sum up.", "Do it. Then list each of the"),
        ("Read the e.g. of it, and list each of the parties.", "Read the e.g. of it,"),
        ("Read a lease, whatever it is about, from end to end.", "Read a lease, whatever it is"),
        ("Read it, but then list all who are parties to it.", "Read it, but then list all who"),
        ("Read everything – the annexes with it – and list it.", "Read everything"),
        ("Read contracts/leases/of-the-year/march.md twice.", "Read"),
        ("contracts/leases/of-the-year/of-march.md twice.", "contracts/leases/of-the-year/o"),
        ("e\u0301" * 20, "e\u0301" * 15),
        ("ae\u0301" + "e\u0301" * 20, "a" + "e\u0301" * 14),
        ("", ""),
    ],
)
def test_a_long_text_is_parted_at_a_sentence_a_clause_or_a_word(text: str, shown: str) -> None:
    head, rest = split_at(text, 30)
    assert head == shown
    assert f"{head} {rest}".strip().replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("amount", "text"),
    [(None, "unpriced"), ("0", "$0.00"), ("0.0841", "$0.084"), ("0.00001", "under $0.001"), ("1234.5", "$1,234.50")],
)
def test_usd(amount: str | None, text: str) -> None:
    assert usd(Decimal(amount) if amount else None) == text


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (3, "just now"),
        (61, "1 minute ago"),
        (7_300, "2 hours ago"),
        (3 * 86_400, "3 days ago"),
        (8 * 86_400, "2 Jan 2026"),
    ],
)
def test_relative_times(ago: int, text: str) -> None:
    now = datetime(2026, 1, 10, 12, tzinfo=UTC)
    assert in_words(now - timedelta(seconds=ago), now) == text


@pytest.mark.parametrize(
    ("after", "text"),
    [(-3, "0 s"), (0, "0 s"), (13, "13 s"), (133, "2 m 13 s"), (3_900, "1 h 5 m"), (280_000, "3 d 5 h")],
)
def test_the_time_since_the_start_of_a_run(after: int, text: str) -> None:
    start = datetime(2026, 1, 10, 12, tzinfo=UTC)
    assert f">+{text}</time>" in offset(start + timedelta(seconds=after, milliseconds=1), start)


@pytest.mark.parametrize(
    ("ms", "text"), [(400, "0.4 s"), (12_000, "12 s"), (200_000, "3 min 20 s"), (7_500_000, "2 h 5 min")]
)
def test_durations(ms: int, text: str) -> None:
    assert seconds(ms) == text


def test_a_badge_is_escaped() -> None:
    assert badge("<x>") == '<span class="badge" data-status="&lt;x&gt;">&lt;x&gt;</span>'
    assert words("awaiting_approval") == "needs a decision"


def test_what_was_added_and_removed_is_marked_and_escaped() -> None:
    pieces = [DiffPiece("same", "the"), DiffPiece("removed", " <b>"), DiffPiece("added", " <i>")]
    assert marked(pieces) == "the<del> &lt;b&gt;</del><ins> &lt;i&gt;</ins>"
    assert marked(()) == ""


def test_a_change_has_the_colour_of_its_severity_and_others_are_calm() -> None:
    changes = ("added", "reused", "changed", "asks for less", "moved")
    assert [tone(change) for change in changes] == ["active", "good", "warn", "bad", "calm"]
