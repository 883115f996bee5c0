"""A file that is added to those of a run that is run again replaces the one of the same name; nothing is guessed."""

from __future__ import annotations

import uuid

import pytest
from django.core.files.base import ContentFile

from runs.errors import InvalidInput
from runs.models import Draft, Run
from runs.store import blobs, input_examination, trees
from runs.submission import input_replacement, submission_drafts
from runs.submission.input_replacement import Namesakes
from runs.submission.intake import Upload
from runs.submission.submit import Submission, submit
from tests import factories as made

pytestmark = pytest.mark.django_db

TOKEN = uuid.UUID("12345678-1234-5678-1234-567812345678")


def before(*paths: str) -> Run:
    run = made.finished_succeeded()
    files = {path: blobs.put(f"old {path}".encode()) for path in sorted(paths)}
    input_examination.examine(files)
    run.inputs = trees.make_tree(files)
    run.save()
    return run


def draft_of(*paths: str) -> Draft:
    return submission_drafts.begin_with(made.alice(), TOKEN, before(*paths))


def add(*paths: str) -> list[str]:
    uploads = [Upload(path, ContentFile(f"new {path}".encode())) for path in paths]
    return [one.why for one in submission_drafts.add(made.alice(), TOKEN, uploads)]


def contents(draft: Draft) -> dict[str, str]:
    return {path: blobs.read(info.sha256).decode() for path, info in submission_drafts.files_of(draft).items()}


def asked(draft: Draft) -> list[Namesakes]:
    return input_replacement.namesakes(input_replacement.before_of(draft), input_replacement.rows_of(draft))


def test_a_file_without_its_folder_replaces_the_one_of_its_name() -> None:
    draft = draft_of("contracts/Büro lease.md", "contracts/other.md")
    assert add("Bu\u0308ro lease.md") == []
    assert contents(draft) == {
        "contracts/Büro lease.md": "new Bu\u0308ro lease.md",
        "contracts/other.md": "old contracts/other.md",
    }
    assert draft.files.get(path="contracts/Büro lease.md", removed=False).sent_as == "Büro lease.md"
    assert asked(draft) == []


def test_it_is_told_before_it_is_in_the_draft() -> None:
    draft = draft_of("a/x.md", "b/x.md", "a/y.md", "z.md")
    assert (
        input_replacement.warning(draft, ["y.md", "z.md", "new/y.md", "other.md", "../x"]) == "“y.md” replaces a/y.md."
    )
    assert input_replacement.warning(draft, ["x.md"]) == "“x.md” may replace a/x.md or b/x.md."


def test_sent_again_it_goes_to_the_same_place() -> None:
    draft = draft_of("a/x.md")
    add("x.md")
    submission_drafts.add(made.alice(), TOKEN, [Upload("x.md", ContentFile(b"newest"))])
    assert contents(draft) == {"a/x.md": "newest"}


def test_both_are_kept_where_somebody_says_so() -> None:
    draft = draft_of("a/x.md")
    add("x.md")
    input_replacement.keep_both(draft, "a/x.md")
    assert contents(draft) == {"a/x.md": "old a/x.md", "x.md": "new x.md"}
    assert asked(draft) == []
    submission_drafts.add(made.alice(), TOKEN, [Upload("x.md", ContentFile(b"newest"))])
    assert contents(draft) == {"a/x.md": "old a/x.md", "x.md": "newest"}


def test_of_several_of_one_name_none_is_guessed_and_nothing_starts_before_it_is_said() -> None:
    draft = draft_of("a/x.md", "b/x.md")
    add("x.md")
    assert contents(draft) == {"a/x.md": "old a/x.md", "b/x.md": "old b/x.md", "x.md": "new x.md"}
    assert asked(draft) == [Namesakes("x.md", ["a/x.md", "b/x.md"], asked=True)]
    submission = Submission("Do it.", (), made.policy(), TOKEN, from_draft=True)
    with pytest.raises(InvalidInput) as refused:
        submit(made.alice(), submission)
    assert str(refused.value) == ("Say in the list of files what “x.md” replaces: a/x.md or b/x.md, or none of them.")
    input_replacement.replace(draft, "x.md", "b/x.md")
    assert contents(draft) == {"a/x.md": "old a/x.md", "b/x.md": "new x.md"}
    assert list(trees.files_of(submit(made.alice(), submission).inputs)) == ["a/x.md", "b/x.md"]


def test_none_of_several_may_be_meant() -> None:
    draft = draft_of("a/x.md", "b/x.md")
    add("x.md")
    input_replacement.keep_both(draft, "x.md")
    assert asked(draft) == []


def test_a_file_with_another_folder_lies_beside_and_may_replace() -> None:
    draft = draft_of("2025/x.md")
    add("2026/x.md")
    assert asked(draft) == [Namesakes("2026/x.md", ["2025/x.md"], asked=False)]
    input_replacement.check_answered(draft)
    input_replacement.replace(draft, "2026/x.md", "2025/x.md")
    assert contents(draft) == {"2025/x.md": "new 2026/x.md"}


@pytest.mark.parametrize("sent", [[["x.md", "a/x.md"]], [["x.md"], ["a/x.md"]], [["a/x.md"], ["x.md"]]])
def test_the_file_itself_takes_its_place_before_one_that_has_only_its_name(sent: list[list[str]]) -> None:
    draft = draft_of("a/x.md")
    for paths in sent:
        add(*paths)
    assert contents(draft) == {"a/x.md": "new a/x.md", "x.md": "new x.md"}
    assert asked(draft) == [Namesakes("x.md", ["a/x.md"], asked=True)]


def test_what_was_removed_is_replaced_all_the_same_and_can_be_put_back() -> None:
    draft = draft_of("a/x.md", "a/y.md")
    submission_drafts.remove(draft, ["a/x.md"])
    add("x.md")
    assert contents(draft) == {"a/x.md": "new x.md", "a/y.md": "old a/y.md"}
    input_replacement.put_back(draft, "a/x.md")
    assert contents(draft) == {"a/x.md": "old a/x.md", "a/y.md": "old a/y.md"}


def test_two_that_cannot_lie_together_are_not_both_kept() -> None:
    draft = draft_of("x.md")
    assert add("X.md") == []
    with pytest.raises(InvalidInput, match=r"“x\.md” and “X\.md” cannot lie in one folder|“X\.md” and “x\.md”"):
        input_replacement.keep_both(draft, "x.md")
    assert contents(draft) == {"x.md": "new X.md"}


def test_what_an_old_page_or_a_stranger_names_changes_nothing() -> None:
    draft = draft_of("a/x.md", "a/y.md")
    for change, *paths in (
        (input_replacement.replace, "gone.md", "a/x.md"),
        (input_replacement.replace, "a/y.md", "a/x.md"),
        (input_replacement.keep_both, "gone.md"),
        (input_replacement.put_back, "gone.md"),
    ):
        with pytest.raises(InvalidInput, match="changed since"):
            change(draft, *paths)
    assert contents(draft) == {"a/x.md": "old a/x.md", "a/y.md": "old a/y.md"}


def test_the_draft_of_a_first_run_replaces_by_path_alone() -> None:
    submission_drafts.add(made.alice(), TOKEN, [Upload("a/x.md", ContentFile(b"1"))])
    add("x.md")
    assert list(contents(Draft.objects.get())) == ["a/x.md", "x.md"]


def test_a_name_that_many_files_have_is_offered_to_none_that_has_a_folder() -> None:
    many = [f"{number}/__init__.py" for number in range(6)]
    draft = draft_of(*many)
    add("new/__init__.py", "__init__.py")
    assert asked(draft) == [Namesakes("__init__.py", many[:5], asked=True)]


def test_all_files_of_another_folder_replace_those_of_their_names_at_once() -> None:
    draft = draft_of("2025/x.md", "2025/y.md", "2025/z.md")
    add("2026/x.md", "2026/y.md", "2026/new.md", "2026/z.md", "drafts/z.md")
    input_replacement.replace_alike(draft)
    assert contents(draft) == {
        "2025/x.md": "new 2026/x.md",
        "2025/y.md": "new 2026/y.md",
        "2025/z.md": "old 2025/z.md",
        "2026/new.md": "new 2026/new.md",
        "2026/z.md": "new 2026/z.md",
        "drafts/z.md": "new drafts/z.md",
    }
