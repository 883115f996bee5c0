"""What a planner is shown of files before it plans."""

import pytest

from runs.engine.prompt_inputs import MAX_PREVIEWS, PREVIEW_CHARS, previews_of
from runs.models import Tree
from runs.store import blobs, input_examination, trees

pytestmark = pytest.mark.django_db


def tree_of(contents: dict[str, bytes]) -> Tree:
    files = {path: blobs.put(content) for path, content in contents.items()}
    input_examination.examine(files)
    return trees.make_tree(files)


def test_only_what_can_be_read_is_shown_and_as_it_is_read() -> None:
    contents = {
        "a.txt": "Größe".encode("cp1252"),
        "b.md": "\ufeffÜber".encode(),
        "blank.md": b" \n",
        "late.md": b"x" * 100_000 + b"\0",
        "scan.pdf": b"%PDF-1.7\n\xe2\xe3\0",
    }
    assert previews_of(tree_of(contents)) == {"a.txt": "Größe", "b.md": "Über"}


def test_so_many_files_are_begun() -> None:
    shown = previews_of(tree_of({f"{n:02}.md": f"{n} {'ü' * 5_000}".encode() for n in range(20)}))
    assert list(shown) == [f"{n:02}.md" for n in range(MAX_PREVIEWS)]
    assert {len(text) for text in shown.values()} == {PREVIEW_CHARS}


def test_of_files_that_were_never_examined_text_is_shown() -> None:
    files = {path: blobs.put(content) for path, content in {"a.md": b"One.", "x.bin": b"\xff\0"}.items()}
    assert previews_of(trees.make_tree(files)) == {"a.md": "One."}
