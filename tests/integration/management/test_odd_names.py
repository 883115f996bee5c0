"""One file whose name cannot be used keeps no other file of its folder from a run."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from runs.errors import InvalidInput
from runs.management.headless import collected
from runs.management.odd_names import LEAVE_OUT, RENAME, odd_names, with_usable_names
from runs.models import Run
from runs.submission.intake import intake


def folder_of(tmp_path: Path, *names: str) -> Path:
    folder = tmp_path / "given"
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"In {len(name)}.\n")
    return folder


def no_one_says(text: str) -> None:
    raise AssertionError(text)


@pytest.mark.parametrize(
    ("name", "renamed"),
    [
        ("Meeting 10:15.txt", "Meeting 10-15.txt"),
        ("aux.txt", "aux_.txt"),
        ("NUL", "NUL_"),
        ("com1.tar.gz", "com1_.tar.gz"),
        ("minutes.txt ", "minutes.txt"),
        ("notes.", "notes"),
        ("...", "_"),
        ("@home.md", "_home.md"),
        ("line\nbreak.md", "line_break.md"),
        ("con/rent.md", "con_/rent.md"),
        ("a:b/c:d.md", "a-b/c-d.md"),
        ("hidden\u202etxt.md", "hiddentxt.md"),
        ("not\udcff.md", "not_.md"),
    ],
)
def test_an_odd_name_is_left_out_or_has_one_that_can_be_used(tmp_path: Path, name: str, renamed: str) -> None:
    said: list[str] = []
    uploads = collected(folder_of(tmp_path, name, "good.md"))
    left, sentences = with_usable_names(uploads, LEAVE_OUT, ask=False, say=said.append)
    assert [upload.path for upload in left] == ["good.md"]
    assert [sentence.startswith(f"“{name}” was not taken. ") for sentence in sentences] == [True]
    kept, sentences = with_usable_names(uploads, RENAME, ask=False, say=said.append)
    assert (sorted(upload.path for upload in kept), sentences) == (sorted([renamed, "good.md"]), [])
    assert set(intake(kept)) == {renamed, "good.md"}
    assert said == [f"“{name}” is left out.", f"“{name}” is “{renamed}” in this run."]


def test_files_that_cannot_lie_side_by_side_are_odd_too(tmp_path: Path) -> None:
    names = ("Lease.md", "lease.md", "Lease (2).md", "a:b.md", "a-b.md", "Ü.md", "U\u0308.md")
    uploads = collected(folder_of(tmp_path, *names))
    kept, _ = with_usable_names(uploads, RENAME, ask=False, say=lambda _: None)
    assert len(set(intake(kept))) == len(names)
    left, sentences = with_usable_names(uploads, LEAVE_OUT, ask=False, say=lambda _: None)
    assert (len(intake(left)), len(sentences)) == (4, 3)


def test_what_has_no_usable_name_is_left_out(tmp_path: Path) -> None:
    deep = "/".join("d" * 21) + "/a.md"
    kept, sentences = with_usable_names(
        collected(folder_of(tmp_path, deep, "good.md")), RENAME, ask=False, say=lambda _: None
    )
    assert [upload.path for upload in kept] == ["good.md"]
    assert sentences[0].startswith(f"“{deep}” was not taken. ")


def test_a_folder_without_odd_names_is_taken_as_it_is(tmp_path: Path) -> None:
    uploads = collected(folder_of(tmp_path, "a.md", "b/c.md", ".git/con"))
    assert with_usable_names(uploads, None, ask=False, say=no_one_says) == (uploads, [])


def test_without_an_answer_all_odd_names_are_said_with_what_can_be_done(tmp_path: Path) -> None:
    uploads = collected(folder_of(tmp_path, "aux.txt", "10:15.txt", "good.md"))
    with pytest.raises(InvalidInput) as refused:
        with_usable_names(uploads, None, ask=False, say=no_one_says)
    assert str(refused.value) == (
        "“10:15.txt” cannot be used as a path: “10:15.txt” has a colon, behind which Windows hides another file; use a "
        "dash. “aux.txt” cannot be used as a path: “aux.txt” is a reserved name on Windows; choose another name. Say "
        "what must be done with such files: --odd-names leave-out, or --odd-names rename, which gives them other names "
        "in the run and leaves your folder as it is."
    )


def test_where_only_odd_names_are_left_out_nothing_is_left(tmp_path: Path) -> None:
    uploads = collected(folder_of(tmp_path, "aux.txt"))
    with pytest.raises(InvalidInput, match=r"No file is left\. “aux\.txt” cannot be used"):
        with_usable_names(uploads, LEAVE_OUT, ask=False, say=no_one_says)


@pytest.mark.parametrize(("typed", "paths"), [("l", ["good.md"]), ("Rename", ["10-15.txt", "good.md"])])
def test_a_person_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, paths: list[str]) -> None:
    lines = iter(["later", typed])
    monkeypatch.setattr("builtins.input", lambda question: next(lines))
    said: list[str] = []
    kept, _ = with_usable_names(collected(folder_of(tmp_path, "10:15.txt", "good.md")), None, ask=True, say=said.append)
    assert sorted(upload.path for upload in kept) == paths
    assert said[1].endswith("; use a dash. It would be “10-15.txt”.")


@pytest.mark.parametrize("answer", ["s", EOFError()])
def test_who_stops_or_cannot_be_asked_reads_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str | EOFError
) -> None:
    def typed(question: str) -> str:
        if isinstance(answer, EOFError):
            raise answer
        return answer

    monkeypatch.setattr("builtins.input", typed)
    with pytest.raises(InvalidInput, match="--odd-names leave-out, or --odd-names rename"):
        with_usable_names(collected(folder_of(tmp_path, "10:15.txt")), None, ask=True, say=lambda _: None)


def test_very_many_odd_names_take_no_time(tmp_path: Path) -> None:
    (upload,) = collected(folder_of(tmp_path, "a:b.md"))
    odd = odd_names([upload] * 5_000)
    assert [one.renamed for one in odd][-1] == "a-b (5000).md"


@pytest.mark.django_db
@pytest.mark.usefixtures("no_model")
def test_the_command_says_it_before_anything_is_stored(tmp_path: Path) -> None:
    arguments = ["run", "Go.", "--files", str(folder_of(tmp_path, "10:15.txt", "good.md")), "--approve-all"]
    with pytest.raises(CommandError, match="--odd-names leave-out") as refused:
        call_command(*arguments, "--template", "document-review")
    assert (refused.value.returncode, Run.objects.count()) == (2, 0)
