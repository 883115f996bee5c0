"""Words, sizes, times and money in templates."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from runs.web.templatetags.pev import badge, in_words, opening, seconds, size, usd, words


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
        ("Read it now (all!) Then list it there.", "Read it now (all!)"),
        ("Read, e.g. the lease, and list every party.", "Read, e.g. the lease, and …"),
        ("", ""),
    ],
)
def test_an_opening_ends_with_a_sentence_where_it_can(text: str, shown: str) -> None:
    assert opening(text, 5) == shown


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
    ("ms", "text"), [(400, "0.4 s"), (12_000, "12 s"), (200_000, "3 min 20 s"), (7_500_000, "2 h 5 min")]
)
def test_durations(ms: int, text: str) -> None:
    assert seconds(ms) == text


def test_a_badge_is_escaped() -> None:
    assert badge("<x>") == '<span class="badge" data-status="&lt;x&gt;">&lt;x&gt;</span>'
    assert words("awaiting_approval") == "needs your decision"
