"""Names of files in archives: those of one archive are guessed together, and doubtful ones are said."""

import pytest

from runs.documents.archive_names import EntryName, decode_names, with_folders

BACKSLASH = "“_” stands for a backslash in its name, which would separate folders here."


@pytest.mark.parametrize(
    ("codec", "names"),
    [
        ("cp932", ["ソ予算表.txt", "見積書/テスト.docx", "表示.md"]),
        ("cp932", ["能力開発ソフト.txt", "十分な資料.txt"]),
        ("gb18030", ["合同副本.txt", "采购合同/价格表.xlsx"]),
        ("gb18030", ["甲方付款通知.pdf", "发票.pdf"]),
        ("big5", ["合約書.txt", "功能說明.txt", "許可證.pdf"]),
        ("cp949", ["계약서.txt", "임대차 계약/서울특별시.hwp"]),
        ("cp1252", ["Vertrag für Müller.txt", "Übersicht.xlsx"]),
        ("cp1252", ["Straßenplan Köln.pdf"]),
        ("cp1252", ["contrat signé.pdf", "reçu n° 5.pdf"]),
        ("cp437", ["Vertrag für Müller.txt", "Größe.md"]),
        ("cp850", ["Vertrag für Müller.txt", "Årsrapport på dansk.docx", "Ærø.txt"]),
        ("cp866", ["Договор аренды.docx", "Приложение 1.docx"]),
        ("cp1251", ["Договор аренды.docx", "Приложение 1.docx"]),
        ("cp874", ["สัญญาเช่า.docx", "ใบเสนอราคา.pdf"]),
        ("cp1255", ["חוזה שכירות.docx", "נספח א.pdf"]),
        ("cp1256", ["عقد الإيجار.docx", "الملحق الأول.pdf"]),
        ("cp852", ["Umowa najmu lokalu użytkowego.docx", "Załącznik źródłowy.pdf"]),
        ("utf-8", ["Größe.md", "契約書.txt"]),
        ("cp932", ["請求書(株)山田商事.pdf", "欺瞞.txt", "構成.txt"]),
        ("cp932", ["申込書.doc", "添付資料①.xlsx", "予算.txt"]),
        ("gb18030", ["附件一：报价单.docx"]),
        ("big5", ["公司章程.pdf", "股東會議事錄.docx"]),
        ("cp949", ["2026년 예산안.xlsx", "회의록.docx"]),
        ("cp850", ["Résumé été.docx"]),
        ("cp866", ["Акт выполненных работ №5.pdf"]),
        ("cp1251", ["Устав ООО «Ромашка».docx"]),
        ("koi8_r", ["Договор.txt", "Приложение.txt"]),
        ("cp1253", ["Συμβόλαιο μίσθωσης.docx"]),
        ("cp1254", ["Sözleşme ek-1.docx", "İhale şartnamesi.pdf"]),
    ],
)
def test_names_of_one_archive_are_guessed_together(codec: str, names: list[str]) -> None:
    found = decode_names(name.encode(codec) for name in [*names, "plain.txt"])
    assert [found[name.encode(codec)].name for name in names] == names
    assert found[b"plain.txt"] == EntryName("plain.txt")


def test_a_short_name_that_may_be_another_is_said_with_the_other() -> None:
    [found] = decode_names(["東京.txt".encode("cp932")]).values()
    assert found == EntryName("東京.txt", "“東京.txt” is taken for its name, which would be “ôîï₧.txt” in DOS 437.")
    assert decode_names(["契約書 第一条について.txt".encode("cp932")]).popitem()[1].caution == ""


def test_a_name_that_is_utf_8_by_chance_is_guessed_with_the_others() -> None:
    by_chance = "模.txt".encode("gb18030")
    assert by_chance.decode() == "ģ.txt"
    names = [by_chance, *(name.encode("gb18030") for name in ("采购合同.txt", "价格表.txt"))]
    assert decode_names(names)[by_chance].name == "模.txt"
    assert decode_names([b"\xc3\xbc.txt", b"\xc3\xb6.txt", b"\xfc.txt"])[b"\xc3\xbc.txt"].name == "ü.txt"


def test_what_is_in_no_encoding_is_said() -> None:
    [found] = decode_names([b"\x01\xff\x02"]).values()
    assert (found.name, found.caution) == ("\x01\xa0\x02", "Its name in the archive is in no encoding that is known.")


@pytest.mark.parametrize(
    ("name", "from_windows", "expected"),
    [
        ("a\\b.txt", True, EntryName("a/b.txt")),
        ("a\\b.txt", False, EntryName("a_b.txt", BACKSLASH)),
        ("dir/a\\b\\c.txt", False, EntryName("dir/a_b_c.txt", BACKSLASH)),
        ("a/b.txt", False, EntryName("a/b.txt")),
        ("a\\..\\b.txt", False, EntryName("a\\..\\b.txt")),
        ("..\\b.txt", True, EntryName("..\\b.txt")),
    ],
)
def test_a_backslash_separates_folders_on_windows_alone(name: str, from_windows: bool, expected: EntryName) -> None:
    assert with_folders(EntryName(name), from_windows=from_windows) == expected


def test_both_doubts_are_said() -> None:
    assert with_folders(EntryName("ü\\b", "One."), from_windows=False) == EntryName("ü_b", f"One. {BACKSLASH}")


def test_very_many_names_are_decoded_by_the_first_of_them() -> None:
    raws = [f"Vertrag für Müller {number}.txt".encode("cp1252") for number in range(8_000)]
    assert decode_names(raws)[raws[-1]].name == "Vertrag für Müller 7999.txt"


def test_a_caution_fits_into_its_column() -> None:
    long = decode_names(["東京".encode("cp932") * 100])["東京".encode("cp932") * 100]
    both = with_folders(EntryName(f"{long.name}\\b", long.caution or "x" * 190), from_windows=False)
    assert len(both.caution) <= 300
    [name] = decode_names([("ⅰ" * 70 + "京").encode("cp932")]).values()
    assert len(name.caution) <= 200


@pytest.mark.parametrize(
    ("codec", "name"), [("cp737", "Συμβόλαιο.docx"), ("iso8859_5", "Договор.docx"), ("cp775", "Sutartis ąčę.docx")]
)
def test_a_name_that_looks_wrong_in_all_encodings_is_said(codec: str, name: str) -> None:
    [found] = decode_names([name.encode(codec)]).values()
    assert (found.name == name, found.caution != "") == (False, True)


@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ("cp857", "Sözleşme.docx"),
        ("cp857", "Kira sözleşmesi – ek.docx".replace("–", "-")),
        ("cp857", "İhale şartnamesi.pdf"),
        ("cp862", "חוזה שכירות.docx"),
        ("cp865", "Kontrakt for lån på øre.docx"),
        ("cp1250", "Smlouva o nájmu - příloha č. 1.docx"),
        ("euc_jp", "契約書.txt"),
        ("cp1256", "عقد.docx"),
        ("cp874", "สัญญา.docx"),
        ("mac_roman", "Vertrag für Müller.txt"),
        ("cp949", "견적서.xlsx"),
        ("gb18030", "發票.pdf"),
    ],
)
def test_a_name_of_few_letters_is_read_rightly_or_said(codec: str, name: str) -> None:
    [found] = decode_names([name.encode(codec)]).values()
    assert found.name == name or found.caution
