"""Word files that want to be expensive end as text or as one sentence, within their limits."""

from collections.abc import Callable, Iterator

import pytest

from runs import isolation
from runs.documents.packed_parts import unpacked
from runs.errors import InvalidInput
from runs.isolation import Limits
from tests.documents import word_bombs

pytestmark = pytest.mark.slow

LIMITS = Limits(megabytes=1_024, cpu_seconds=10, seconds=60, output=32_000_000)
"""Half of the processor's time that the product allows."""
_ENDINGS = ("text", "is ", "has ", "needs ", "unpacks ")
type Bombs = Callable[[], Iterator[tuple[str, bytes]]]


@pytest.mark.parametrize("bombs", [word_bombs.large, word_bombs.of_xml, word_bombs.deep, word_bombs.of_numbers])
@pytest.mark.exhaustive
def test_bombs_are_read_or_refused(bombs: Bombs) -> None:
    outcomes = {name: _outcome(data) for name, data in bombs()}
    assert "passwd" not in str(outcomes.values())
    assert all(outcome.startswith(_ENDINGS) for outcome in outcomes.values())
    assert {name for name, outcome in outcomes.items() if outcome == "text"} == {
        name for name in outcomes if name.startswith("read")
    }


@pytest.mark.exhaustive
def test_damage_is_text_or_a_sentence() -> None:
    outcomes = [_outcome(data) for data in word_bombs.damaged(60)]
    assert all(outcome.startswith(_ENDINGS) for outcome in outcomes)
    assert outcomes.count("text") >= 10


def _outcome(data: bytes) -> str:
    """What an isolated process makes of it: it does not crash, and does not run into its limits."""
    try:
        header, text = unpacked(isolation.run("runs.documents.formats.docx.docx_reader.read", data, LIMITS))
    except InvalidInput as error:
        return str(error)
    assert header
    assert text
    return "text"
