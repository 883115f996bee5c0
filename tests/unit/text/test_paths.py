"""What a path may look like, which paths clash, and which files patterns mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.documents.content import Converted, digest_of, document_of, is_blank, is_text, text_of
from runs.documents.model.layout import BlockKind
from runs.documents.places.document import Document
from runs.documents.reading.building import Builder
from runs.errors import InvalidInput, PathRefused
from runs.text.paths import MAX_PATTERNS, MAX_WILDCARDS, clashes, clean_path, selected
from tests.hostile.bounds import within
from tests.work import growth

PIECES = st.sampled_from(
    [
        "a",
        "b c",
        "..",
        ".",
        "/",
        "\\",
        "C:",
        "é",
        "e\u0301",
        "\0",
        "\n",
        " ",
        "@",
        "nul",
        "ß",
        "\ud800",
        "\u202e",
        ".",
    ]
)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a.md", "a.md"),
        ("My contracts/first one.md", "My contracts/first one.md"),
        ("folder\\sub\\a.txt", "folder/sub/a.txt"),
        ("e\u0301.md", "é.md"),
        (".env", ".env"),
        ("node_modules/@types/x.d.ts", "node_modules/@types/x.d.ts"),
        ("what now?.md", "what now?.md"),
        ("console.log", "console.log"),
        ("a...b", "a...b"),
        ("👩\u200d👧 ❤\ufe0f.md", "👩\u200d👧 ❤\ufe0f.md"),
        ("می\u200cخواهم.md", "می\u200cخواهم.md"),
        ("a" * 255, "a" * 255),
        ("/".join("a" * 20), "/".join("a" * 20)),
    ],
)
def test_good_paths_have_one_form(raw: str, clean: str) -> None:
    assert clean_path(raw) == clean


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("", "it is empty"),
        ("   ", "it is empty"),
        ("/etc/passwd", "it is absolute"),
        ("\\\\server\\share", "it is absolute"),
        ("C:\\x", "drive letter"),
        ("C:/x", "drive letter"),
        ("c:x", "drive letter"),
        ("../x", "the part “..”"),
        ("a/../../x", "the part “..”"),
        ("a\\..\\x", "the part “..”"),
        ("./a", "the part “.”"),
        ("a//b", "two slashes"),
        ("a/", "ends with a slash"),
        ("a\\", "ends with a slash"),
        ("a\0b", "control character"),
        ("a\nb", "control character"),
        ("a\x85b", "control character"),
        ("a\u2028b", "control character"),
        ("a\ud800b", "control character"),
        ("txt.\u202eexe", "invisible character"),
        ("a\u200bb.md", "invisible character"),
        ("\ufeffa.md", "invisible character"),
        ("so\u00adft", "invisible character"),
        ("a\u200db", "invisible character"),
        ("\u200d👩", "invisible character"),
        ("hidden\U000e0041", "invisible character"),
        ("\u3164", "invisible character"),
        ("blank\u2800", "invisible character"),
        ("a.txt:stream", "has a colon"),
        ("a.txt::$DATA", "has a colon"),
        ("notes/10:30.log", "has a colon"),
        ("ü" * 128, "has 256 bytes"),
        ("/".join(["a" * 100] * 4), "has 403 characters"),
        ("/".join("a" * 21), "is 21 levels deep"),
        ("nul", "reserved name"),
        ("a/CON.txt", "reserved name"),
        ("lpt1.tar.gz", "reserved name"),
        (".git/config", "version control"),
        ("a/.GIT/hooks/x", "version control"),
        ("aux .md", "reserved name"),
        ("COM¹", "reserved name"),
        ("@output", "reserved (@output"),
        ("@tool-1/x", "reserved (@output"),
        ("a./b", "dot or a space"),
        ("a /b", "dot or a space"),
        ("a\u00a0", "dot or a space"),
        (" a", "begins with a space"),
    ],
)
def test_bad_paths_are_refused_with_the_reason(raw: str, why: str) -> None:
    with pytest.raises(PathRefused) as refusal:
        clean_path(raw)
    assert why in str(refusal.value)
    assert str(refusal.value).endswith(".")
    assert all(char.isprintable() for char in str(refusal.value))


@given(st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join)))
def test_a_clean_path_stays_clean_and_never_escapes(raw: str) -> None:
    try:
        path = clean_path(raw)
    except PathRefused:
        return
    assert clean_path(path) == path
    assert path == path.strip()
    assert not path.startswith(("/", "@"))
    assert "\\" not in path
    assert not {"", ".", ".."} & set(path.split("/"))
    assert path.isprintable() or path.encode()


@pytest.mark.parametrize(
    ("paths", "pairs"),
    [
        ([], []),
        (["a", "b", "c/d", "c/e"], []),
        (["Docs/a", "docs/b"], []),
        (["a", "a/b"], [("a", "a/b")]),
        (["a/b/c", "a"], [("a", "a/b/c")]),
        (["A", "a/b"], [("A", "a/b")]),
        (["README.md", "readme.MD"], [("README.md", "readme.MD")]),
        (["a", "a"], [("a", "a")]),
        (["a", "A", "b"], [("a", "A")]),
        (["É", "e\u0301"], [("É", "e\u0301")]),
        (["a-b", "a"], []),
        (["می\u200cخ.md", "میخ.md"], [("می\u200cخ.md", "میخ.md")]),
        (["❤.md", "❤\ufe0f.md"], [("❤.md", "❤\ufe0f.md")]),
    ],
)
def test_clashes(paths: list[str], pairs: list[tuple[str, str]]) -> None:
    assert clashes(iter(paths)) == pairs


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"abc\r\n", "abc\r\n"),
        (b"\xef\xbb\xbfabc", "abc"),
        ("grüße".encode(), "grüße"),
        (b"a\0b", None),
        (b"\xff\xfea\0", None),
        ("grüße".encode("latin-1"), None),
        (b"\xed\xa0\x80", None),
    ],
)
def test_text(data: bytes, text: str | None) -> None:
    assert text_of(data) == text
    assert is_text(data) is (text is not None)


@pytest.mark.parametrize(
    ("data", "blank"),
    [
        (b"", True),
        (b" \r\n\t", True),
        ("\ufeff\u00a0\u200b\u2060\u00ad\u3164\u115f\u2800\n".encode(), True),
        ("\u200b。".encode(), False),
        ("\u0301".encode(), False),
        (b"-", False),
        (b"\x89PNG\0", False),
    ],
)
def test_a_file_is_blank_when_nothing_in_it_can_be_seen(data: bytes, blank: bool) -> None:
    assert is_blank(data) is blank


def test_a_document_is_read_when_its_places_are_asked_for_and_only_once() -> None:
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "The tenant shall pay.")
    made = builder.build()
    read: list[Document] = []

    def document() -> Document:
        read.append(Document(made.text, made.rendered.layout))
        return read[-1]

    data = Converted(b"The tenant shall pay.", "0" * 64, document)
    before = len(read)

    assert (before, document_of(data), document_of(data), len(read)) == (0, read[0], read[0], 1)
    assert (text_of(data), digest_of(data)) == ("The tenant shall pay.", "0" * 64)


def test_a_text_of_lines_is_no_document() -> None:
    assert (document_of(b"text"), document_of(Converted("Müller".encode(), "0" * 64))) == (None, None)


PATHS = ["a.md", "contracts/nda.md", "contracts/old/nda.pdf", "contracts.md", "notes-1/x.md", "Ä/b.md"]


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        ([], []),
        (["a.md"], ["a.md"]),
        (["contracts/"], ["contracts/nda.md", "contracts/old/nda.pdf"]),
        (["contracts"], ["contracts/nda.md", "contracts/old/nda.pdf"]),
        (["./contracts/old", "/a.md"], ["a.md", "contracts/old/nda.pdf"]),
        (["contracts\\old\\nda.pdf"], ["contracts/old/nda.pdf"]),
        (["*.pdf"], ["contracts/old/nda.pdf"]),
        (["**/a.md"], ["a.md"]),
        (["contracts/**"], ["contracts/nda.md", "contracts/old/nda.pdf"]),
        (["contracts/*.md"], ["contracts/nda.md"]),
        (["notes-?"], ["notes-1/x.md"]),
        (["notes-[0-9]/"], ["notes-1/x.md"]),
        (["A\u0308"], ["Ä/b.md"]),
        (["A.MD", "nda.md", "contract", "none*"], []),
        (["*"], PATHS),
        (["."], PATHS),
        (["/"], PATHS),
    ],
)
def test_what_patterns_mean(patterns: list[str], found: list[str]) -> None:
    assert selected(patterns, PATHS) == found


def test_too_many_wildcards_are_refused() -> None:
    sentence = "There may be 50 patterns with wildcards, and 8 wildcards in each; name folders."
    for wild in (["*?" * MAX_WILDCARDS], [f"*{n}" for n in range(MAX_PATTERNS + 1)]):
        with pytest.raises(InvalidInput) as caught:
            selected(wild, PATHS)
        assert str(caught.value) == sentence


@given(st.lists(st.text(max_size=20), max_size=5), st.lists(st.text("ab/*?[]!-.", min_size=1, max_size=12), max_size=5))
def test_no_pattern_breaks_it(patterns: list[str], paths: list[str]) -> None:
    try:
        found = selected(patterns, paths)
    except InvalidInput:
        found = []
    assert [path for path in paths if path in found] == found


@pytest.mark.slow
def test_hostile_patterns_are_held_against_paths_within_limits() -> None:
    paths = [f"{n}/{'a' * 190}/{'a' * 190}" for n in range(1_000)]
    wild = [f"*{'a*' * (MAX_WILDCARDS - 1)}{n}b" for n in range(MAX_PATTERNS)]
    assert within(0.5, 50, "runs.text.paths.selected", wild, paths) == []


def test_the_work_on_names_grows_with_them() -> None:
    def named(size: int) -> None:
        assert selected([f"{'a' * 200}{n}" for n in range(size)], [f"{n}/{'a' * 190}" for n in range(size)]) == []

    assert growth(named, 100) < 5
