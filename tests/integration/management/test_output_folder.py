"""`run --out` follows no link, replaces nothing unasked, and writes nothing that tools run by themselves."""

import os
from pathlib import Path

import pytest

from runs.errors import InvalidInput
from runs.local_files.writing import check_folder
from runs.management.output_folder import write_out
from runs.models import Run
from runs.reports.formats import FORMATS
from runs.store import blobs, trees
from tests import factories
from tests.reporting import as_markdown

pytestmark = pytest.mark.django_db


def made(files: dict[str, str]) -> Run:
    """A run that has written these files."""
    run = factories.stopped()
    written = {path: blobs.put(text.encode()) for path, text in files.items()}
    tree = trees.make_tree(dict(sorted((dict(trees.files_of(run.inputs)) | written).items())))
    Run.objects.filter(pk=run.pk).update(head=tree)
    return Run.objects.get(pk=run.pk)


def there(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def without_time(report: str) -> list[str]:
    return [line for line in report.splitlines() if not line.startswith("Written ")]


def test_what_the_run_made_is_written_with_its_report(tmp_path: Path) -> None:
    run = made({"a.md": "A", "deep/er/b.csv": "=B", ".github/workflows/ci.yml": "on: push"})
    assert write_out(run, tmp_path, FORMATS["markdown"]) == []
    found = there(tmp_path)
    report = found.pop("report.md")
    assert found == {"a.md": "A", "deep/er/b.csv": "=B", ".github/workflows/ci.yml": "on: push"}
    assert without_time(report) == without_time(as_markdown(run))


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    out.mkdir()
    (outside / "kept.md").write_text("kept")
    (out / "sub").symlink_to(outside)
    (out / "file.md").symlink_to(outside / "kept.md")
    (out / "dangling.md").symlink_to(outside / "new.md")
    (out / "report.md").symlink_to(outside / "kept.md")
    run = made({"sub/evil.md": "evil", "sub/deeper/evil.md": "evil", "file.md": "evil", "dangling.md": "evil"})
    assert write_out(run, out, FORMATS["markdown"], overwrite=True) == [
        "“dangling.md” was not written: something is there already that is no ordinary file.",
        "“file.md” was not written: something is there already that is no ordinary file.",
        "“sub/deeper/evil.md” was not written: “sub” is a link or a file there.",
        "“sub/evil.md” was not written: “sub” is a link or a file there.",
        "The report is “report-2.md”: there is another file “report.md”.",
    ]
    assert there(outside) == {"kept.md": "kept"}
    assert names(out) == ["dangling.md", "file.md", "report-2.md", "report.md", "sub"]


def test_the_report_is_written_in_the_format_that_was_asked_for(tmp_path: Path) -> None:
    assert write_out(made({"a.md": "A"}), tmp_path, FORMATS["html"]) == []
    assert sorted(there(tmp_path)) == ["a.md", "report.html"]


def test_the_folder_that_a_person_names_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert write_out(made({"a.md": "A"}), tmp_path / "link", FORMATS["markdown"]) == []
    assert sorted(there(tmp_path / "real")) == ["a.md", "report.md"]


def test_what_tools_run_unasked_is_left_out_and_said(tmp_path: Path) -> None:
    run = made({".git/config": "[core]", "x/.GIT/hooks/pre-commit": "#!", ".envrc": "rm", ".vscode/tasks.json": "{}"})
    problems = write_out(run, tmp_path, FORMATS["markdown"])
    assert [sentence.split("”")[0] for sentence in problems] == [
        "“.envrc",
        "“.git/config",
        "“.vscode/tasks.json",
        "“x/.GIT/hooks/pre-commit",
    ]
    assert problems[0] == (
        "“.envrc” was not written: tools run or obey files of this name unasked; it is on the page of the run."
    )
    assert names(tmp_path) == ["report.md"]


def test_what_is_there_already_stays_unless_one_asks(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("mine")
    (tmp_path / "report.md").write_text("my report")
    (tmp_path / "sub").write_text("a file where a folder should be")
    run = made({"a.md": "A", "b.md": "B", "sub/c.md": "C"})
    assert write_out(run, tmp_path, FORMATS["markdown"]) == [
        "“a.md” was not written: there is a file of this name already; --overwrite replaces it.",
        "“sub/c.md” was not written: “sub” is a link or a file there.",
        "The report is “report-2.md”: there is another file “report.md”.",
    ]
    found = there(tmp_path)
    assert (found["a.md"], found["report.md"], found["b.md"]) == ("mine", "my report", "B")
    assert write_out(run, tmp_path, FORMATS["markdown"], overwrite=True) == [
        "“sub/c.md” was not written: “sub” is a link or a file there."
    ]
    assert there(tmp_path)["a.md"] == "A"
    assert there(tmp_path)["report.md"].startswith("# STOPPED")


def test_the_report_stands_where_no_result_can(tmp_path: Path) -> None:
    run = made({"Report.MD": "the result", "report-2.md": "another", ".report-3.md": "hidden"})
    problems = write_out(run, tmp_path, FORMATS["markdown"], overwrite=True)
    assert problems[-1] == "The report is “report-3.md”: there is another file “report.md”."
    assert there(tmp_path)["Report.MD"] == "the result"
    assert there(tmp_path)["report-3.md"].startswith("# STOPPED")


def test_a_disk_that_fails_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made({"a.md": "A" * 10})

    def full(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert write_out(run, tmp_path, FORMATS["markdown"]) == [
        "“a.md” was not written: No space left on device.",
        "The report was not written: No space left on device.",
    ]
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_used_is_said_before_anything_begins(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput, match="cannot be made"):
        check_folder(tmp_path / "file" / "sub")
    check_folder(tmp_path / "new" / "folder")
    assert (tmp_path / "new" / "folder").is_dir()
