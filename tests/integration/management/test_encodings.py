"""An encoding can be chosen in the terminal, as on the form of a new run."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from runs.errors import InvalidInput
from runs.management.headless import collected
from runs.models import Run
from runs.submission.intake import Upload, encoded

RUSSIAN, GREEK = "Договор аренды\n", "Μίσθωση\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in {
        "a/lease.txt": RUSSIAN.encode("koi8_r"),
        "b.txt": GREEK.encode("cp1253"),
        "c.md": b"Plain.\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def contents(uploads: Sequence[Upload]) -> dict[str, bytes]:
    return {one.path: b"".join(one.content.chunks()) for one in uploads}


@pytest.mark.parametrize(
    ("choices", "texts"),
    [
        ([], {}),
        (["a/lease.txt=KOI8-R"], {"a/lease.txt": RUSSIAN}),
        (["a=koi8_r", "b.txt=windows 1253"], {"a/lease.txt": RUSSIAN, "b.txt": GREEK}),
        (["a/*=cp866"], {"a/lease.txt": RUSSIAN.encode("koi8_r").decode("cp866")}),
    ],
)
def test_chosen_files_are_utf_8_and_the_history_says_so(
    folder: Path, choices: Sequence[str], texts: dict[str, str]
) -> None:
    given = contents(collected(folder))
    found, remarks = encoded(collected(folder), choices, "alice")
    expected = given | {path: text.encode() for path, text in texts.items()}
    assert contents(found) == expected
    assert len(remarks) == len(texts)
    for path, said in zip(texts, remarks, strict=True):
        assert said.startswith(f"{path} was read as ")
        assert said.endswith(f"The file that was given has the SHA-256 {sha256(given[path]).hexdigest()}.")


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ("b.txt", "“b.txt” cannot be read. Write FILE=ENCODING, with one of Windows-1252, "),
        ("b.txt=Latin", "“b.txt=Latin” cannot be read. "),
        ("b.txt=", "“b.txt=” cannot be read. "),
        ("=KOI8-R", "“=KOI8-R” cannot be read. "),
        ("d.txt=KOI8-R", "No file matches “d.txt”. Name a file, a folder or a pattern such as *.csv."),
        ("a/lease.txt=EUC-JP", "a/lease.txt is not text in EUC-JP; choose another encoding."),
    ],
)
def test_a_choice_that_cannot_be_made_is_a_sentence(folder: Path, choice: str, sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        encoded(collected(folder), [choice], "alice")
    assert str(refused.value).startswith(sentence)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("no_model", "alice")
def test_the_command_refuses_an_encoding_that_it_does_not_know(folder: Path) -> None:
    with pytest.raises(CommandError, match=r"^“b\.txt=Latin” cannot be read\. ") as refused:
        call_command("run", "Go.", "--files", str(folder), "--user", "alice", "--encoding", "b.txt=Latin")
    assert (refused.value.returncode, Run.objects.exists()) == (2, False)
