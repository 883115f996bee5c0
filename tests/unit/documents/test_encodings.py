"""Text in other encodings: what is read, what is guessed, and what is not taken for text."""

import random
from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runs.documents.encodings import decoded, read_all
from runs.documents.packing import packed, unpacked
from runs.errors import InvalidInput
from runs.pev.files.paths import text_of
from tests.hostile.bounds import within

GERMAN = "Der Käufer zahlt binnen dreißig Tagen 10 € – „ohne Abzug“.\r\n"


def refusal(data: bytes) -> str:
    with pytest.raises(InvalidInput) as caught:
        decoded(data)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (GERMAN, "cp1252", "Windows-1252"),
        ("Größe\n" * 20_000, "cp1252", "Windows-1252"),
        ("The “Supplier” shall pay £5,000 — within 30 days.", "cp1252", "Windows-1252"),
        ("It’s due.", "cp1252", "Windows-1252"),
        ("Le café est à Orléans, où l’été s’achève.", "cp1252", "Windows-1252"),
        ("Name;Straße\n" + "a;b\n" * 100_000 + "Müller;Weg\n", "cp1252", "Windows-1252"),
        ("a" * 300_000 + " Größe, Straße, Käufer" + "b" * 300_000, "cp1252", "Windows-1252"),
        ('{"a": "' + "契約書 第一条 甲は乙に対し、代金を支払う。" * 20_000 + '"}', "cp932", "Shift JIS"),
        ("Umowa najmu lokalu użytkowego zawarta w Łodzi. Źródło żółć.", "cp1250", "Windows-1250"),
        ("Договор аренды нежилого помещения заключён в Москве.", "cp1251", "Windows-1251"),
        ("契約書 第一条 甲は乙に対し、代金を支払う。", "cp932", "Shift JIS"),
        (GERMAN, "utf-16", "UTF-16"),
        (GERMAN, "utf-32", "UTF-32"),
        (GERMAN, "utf-16-le", "UTF-16"),
        (GERMAN, "utf-16-be", "UTF-16"),
        ("\ufeff契約書", "utf-16-be", "UTF-16"),
    ],
)
def test_text_is_read_with_its_line_ends_and_without_its_mark(text: str, codec: str, name: str) -> None:
    assert decoded(text.encode(codec)) == (name, text.removeprefix("\ufeff"))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\xff\xfea", "begins as UTF-16 text and does not go on as such; save it as UTF-8"),
        (b"\xff\xfe\x00\xd8", "begins as UTF-16 text and does not go on as such; save it as UTF-8"),
        (b"\xff\xfea\0\0\0b\0", "begins as UTF-16 text and does not go on as such; save it as UTF-8"),
        (b"\xff\xfe\0\0\0\0\x11\0", "begins as UTF-32 text and does not go on as such; save it as UTF-8"),
        ("Müller und Jäger".encode() + b"\xfc", "is UTF-8 text that is damaged at byte 19; save it as UTF-8 again"),
        (
            "Müller und Jäger".encode()[:-3] + b"\xc3",
            "is UTF-8 text that is damaged at byte 16; save it as UTF-8 again",
        ),
        (b"abc\0def", "is not text"),
        (b"a\0b\0c", "is not text"),
        (b"a\0\0b" * 20, "is not text"),
        (b"\x80\x01\x02\xff" * 50, "is not text"),
        (b"\0" * 1_000, "is not text"),
    ],
)
def test_what_is_no_text_says_so(data: bytes, sentence: str) -> None:
    assert refusal(data) == sentence


@given(st.binary(min_size=1, max_size=300))
def test_whatever_is_read_is_text_for_everything_else(data: bytes) -> None:
    """Offsets of evidence count characters of what `text_of` gives."""
    assume(text_of(data) is None)
    with suppress(InvalidInput):
        _, text = decoded(data)
        assert text_of(text.encode()) == text.removeprefix("\ufeff")


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b"\xe9" * 1_000_000,
        b"\xe9\n" * 500_000,
        GERMAN.encode("cp1252") * 10_000,
        b"a" * 999_999 + b"\xfc",
        bytes(range(128, 256)) * 8_000,
        random.Random(1).randbytes(1_000_000),
    ],
    ids=["one letter", "lines", "german", "last byte", "all bytes", "random"],
)
def test_long_contents_take_little_more_than_their_length(data: bytes) -> None:
    within(1, 15 + 8 * len(data) // 1_000_000, "runs.documents.encodings.read_all", packed([data]))


def test_many_are_read_in_one_call() -> None:
    contents = [GERMAN.encode("cp1252"), b"\0\1", b"\xff\xfea\0"]
    parts = list(unpacked(read_all(packed(iter(contents)))))
    assert parts == [b"Windows-1252", GERMAN.encode(), b"", b"is not text", b"UTF-16", b"a"]
