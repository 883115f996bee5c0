"""Text in other encodings: what is read, what is guessed, and what is not taken for text."""

import random
from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runs.documents.content import text_of
from runs.documents.encodings import CODECS, decode, read_all, read_as
from runs.documents.packed_parts import packed, unpacked
from runs.errors import InvalidInput
from tests.hostile.bounds import within

GERMAN = "Der Käufer zahlt binnen dreißig Tagen 10 € – „ohne Abzug“.\r\n"


def refusal(data: bytes) -> str:
    with pytest.raises(InvalidInput) as caught:
        decode(data)
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
    assert decode(text.encode(codec))[:2] == (name, text.removeprefix("\ufeff"))


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (GERMAN * 3, "cp1252"),
        ("Größe\n", "cp1252"),
        ("The tenant’s deposit is £5,000 — due “now”.", "cp1252"),
        ("It costs €5.", "cp1252"),
        ("café", "cp1252"),
        ("Арендатор обязуется вносить арендную плату ежемесячно.", "cp1251"),
        ("Арендатор обязуется вносить арендную плату ежемесячно.", "koi8_r"),
        ("甲方应于三十日内付款。本合同一式两份，双方各执一份。", "gb18030"),
        ("買方應於三十日內付款。本合約一式兩份，雙方各執一份。", "big5"),
        ("매수인은 30일 이내에 대금을 지급한다.", "cp949"),
        ("賃借人は、毎月末日までに翌月分の賃料を賃貸人に支払うものとする。", "euc_jp"),
        ("Ο μισθωτής υποχρεούται να καταβάλλει το μίσθωμα.", "cp1253"),
        ("يلتزم المستأجر بدفع الإيجار الشهري مقدما.", "cp1256"),
        ("Najemca zobowiązuje się płacić czynsz z góry. Źródło żółć.", "cp1250"),
        ("ผู้เช่าตกลงชำระค่าเช่าเป็นรายเดือน", "cp874"),
        *((GERMAN, codec) for codec in ("utf-16", "utf-32", "utf-16-le", "utf-16-be")),
    ],
)
def test_what_is_plain_is_not_marked(text: str, codec: str) -> None:
    assert decode(text.encode(codec))[1:] == (text, "")


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("ağaç", "cp1254"),
        ("Işık şirketi", "cp1254"),
        ("Kayıt No: 5 Şişli", "cp1254"),
        ("Sąd Najwyższy", "iso8859_2"),
        ("Škoda", "iso8859_2"),
        ("Příliš žluťoučký kůň", "iso8859_2"),
        ("Москва", "koi8_r"),
        ("ДОГОВОР", "koi8_r"),
        ("契約書", "euc_jp"),
        ("請求書 5,000円", "euc_jp"),
        ("予算表", "euc_jp"),
        ("Vertrag für Müller", "mac_roman"),
        ("El señor Muñoz pagó mañana.", "mac_roman"),
        ("“Quoted” — and more…", "mac_roman"),
        ("śnieg", "cp1250"),
        ("Győr és Szőlő", "cp1250"),
        ("Līgums par īri Rīgā", "cp1257"),
        ("שלום", "cp1255"),
        ("¿Qué? ¡No!", "cp1252"),
        ("Kiracı, depozitoyu ödemekle yükümlüdür.", "cp1254"),
        ("İndirim yok", "iso8859_9"),
        ("Wartość umowy: 500 zł", "iso8859_2"),
        ("A bérleti szerződés megszűnése", "iso8859_2"),
        ("Да", "koi8_r"),
        ("Договір оренди", "koi8_u"),
        ("Договор аренды", "iso8859_5"),
        ("東京都", "euc_jp"),
        ("Price: €5", "mac_roman"),
        ("Prix: 5 €", "iso8859_15"),
        ("Größe", "cp850"),
        ("Øl og rødgrød", "cp865"),
        ("Sutartis ąčę", "iso8859_13"),
        ("合同", "gb18030"),
        ("계약", "cp949"),
    ],
)
def test_a_short_text_is_read_rightly_or_marked(text: str, codec: str) -> None:
    found = decode(text.encode(codec))
    assert found.text == text or found.caution.startswith(f"Its encoding was guessed as {found.encoding}")


@pytest.mark.parametrize("text", ["§ 5", "€5", "£5", "5°", "±5", "½", "“due” – 5 %", "a – b", "see § 5 and § 6"])
def test_a_sign_between_spaces_is_no_letter(text: str) -> None:
    assert decode(text.encode("cp1252")).text == text


def test_a_caution_shows_how_else_the_text_may_be_read() -> None:
    caution = "Its encoding was guessed as Windows-1254: “müşteri” would be “müţteri” in Windows-1250"
    assert decode("müşteri".encode("cp1254")).caution.startswith(caution)
    assert decode("Größe, Muñoz\n".encode("cp1252")).caution == (
        "Its encoding was guessed as Windows-1252: “Muñoz” would be “Muńoz” in Windows-1250."
    )


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Договор аренды", "iso8859_5"),
        ("Соглашение сторон", "iso8859_5"),
        ("Preis: 5 € für Müller", "iso8859_15"),
        ("10 € pour l’été".replace("’", "'"), "iso8859_15"),
    ],
)
def test_a_guess_in_which_words_look_wrong_is_said(text: str, codec: str) -> None:
    found = decode(text.encode(codec))
    assert (found.text == text, found.caution != "") == (False, True)


def test_of_a_text_the_caution_says_what_can_be_done() -> None:
    *_, caution = unpacked(read_all(packed(["müşteri".encode("cp1254")])))
    assert caution.decode().endswith(" If that is wrong, choose another one in the list of files of a new run.")


def test_a_person_may_choose_any_other_encoding() -> None:
    assert read_as("Škoda".encode("iso8859_2"), "iso8859_2") == "Škoda".encode()
    assert read_as("ДОГОВОР".encode("koi8_r"), "koi8_r") == "ДОГОВОР".encode()
    for codec in CODECS:
        assert read_as(b"plain", codec) == b"plain"


@pytest.mark.parametrize(("data", "codec"), [(b"\x81\x20", "big5"), (b"\x81", "cp1252"), (b"\x80", "iso8859_2")])
def test_an_encoding_that_does_not_fit_is_refused(data: bytes, codec: str) -> None:
    with pytest.raises(InvalidInput, match=r"^is not text in .*; choose another encoding$"):
        read_as(data, codec)


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
        text = decode(data).text
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
        "契約書".encode("cp932") * 300_000,
        b"<meta charset=" * 70_000 + b"\xe9",
        b"\xe9 " * 500_000,
    ],
    ids=["one letter", "lines", "german", "last byte", "all bytes", "random", "japanese", "markup", "words"],
)
def test_long_contents_take_little_more_than_their_length(data: bytes) -> None:
    within(2, 45 + 8 * len(data) // 1_000_000, "runs.documents.encodings.read_all", packed([data]))


def test_many_are_read_in_one_call() -> None:
    contents = [GERMAN.encode("cp1252"), b"\0\1", b"\xff\xfea\0"]
    parts = list(unpacked(read_all(packed(iter(contents)))))
    assert parts == [b"Windows-1252", GERMAN.encode(), b"", b"", b"is not text", b"", b"UTF-16", b"a", b""]
