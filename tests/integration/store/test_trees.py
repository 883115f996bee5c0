"""Trees, overlays and the store: equal files are equal trees, nothing half-written is seen, limits hold."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase as DjangoTestCase

from runs.contracts.ports import Changes, FileInfo
from runs.errors import PathRefused, UploadRefused
from runs.models import Tree
from runs.store import blobs, trees
from runs.store.trees import Overlay

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def info(text: str) -> FileInfo:
    data = text.encode()
    return FileInfo(hashlib.sha256(data).hexdigest(), len(data))


def files(**texts: str) -> dict[str, FileInfo]:
    return {path: info(text) for path, text in texts.items()}


def changed(**texts: str | None) -> Changes:
    return {path: None if text is None else info(text) for path, text in texts.items()}


def overlay(base: Tree, changes: Changes | None = None, files: int = 10, size: int = 1_000) -> Overlay:
    return Overlay(base, changes or {}, max_files=files, max_bytes=size)


# ---- trees --------------------------------------------------------------------------------------------------------


def test_equal_files_are_one_tree_however_it_came_about() -> None:
    made = trees.make_tree(files(a="A", b="B"))
    grown = trees.with_changes(trees.make_tree(files(b="B")), changed(a="A"))
    back = trees.with_changes(trees.with_changes(made, changed(c="C")), changed(c=None))
    assert made.pk == grown.pk == back.pk


@pytest.mark.parametrize("other", [{"a": "A", "b": "C"}, {"a": "B", "b": "A"}, {"a": "A"}, {"a": "A", "c": "B"}, {}])
def test_other_files_are_another_tree(other: dict[str, str]) -> None:
    assert trees.make_tree(files(**other)).digest != trees.make_tree(files(a="A", b="B")).digest


def test_the_digest_is_over_sorted_lines_of_hash_and_path() -> None:
    tree = trees.make_tree(dict(sorted(files(b="B", a="A").items())))
    lines = f"{info('A').sha256}  a\n{info('B').sha256}  b"
    assert tree.digest == hashlib.sha256(lines.encode()).hexdigest()
    assert (tree.file_count, tree.total_size) == (2, 2)


def test_no_change_gives_the_base_itself() -> None:
    base = trees.make_tree(files(a="A"))
    assert trees.with_changes(base, {}).pk == base.pk
    assert trees.with_changes(base, changed(a="A")).pk == base.pk
    assert trees.with_changes(base, changed(gone=None)).pk == base.pk


def test_the_base_stays_as_it_is() -> None:
    base = trees.make_tree(files(a="A"))
    trees.with_changes(base, changed(a="changed", b="B"))
    assert dict(trees.files_of(base)) == files(a="A")


def test_a_long_chain_of_changes_is_read_back_exactly_and_starts_from_new_roots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree, expected, roots = trees.make_tree({}), dict[str, FileInfo](), set()
    for number in range(2 * trees.ROOT_EVERY + 10):
        path = f"f{number}"
        tree = trees.with_changes(tree, changed(**{path: str(number), f"f{number % 3}": f"version {number}"}))
        expected[path] = info(str(number))
        expected[f"f{number % 3}"] = info(f"version {number}")
        roots.add(tree.root_id or tree.pk)
        monkeypatch.setattr(trees, "_remembered", OrderedDict())
        assert dict(trees.files_of(tree)) == dict(sorted(expected.items()))
    assert len(roots) == 3
    assert tree == trees.make_tree(dict(sorted(expected.items())))


def test_no_tree_needs_more_than_its_root_to_be_read(
    django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = trees.make_tree({})
    for number in range(20):
        tree = trees.with_changes(tree, changed(**{f"f{number}": "x"}))
    monkeypatch.setattr(trees, "_remembered", OrderedDict())
    with django_assert_num_queries(1):
        assert len(trees.files_of(tree)) == 20
    with django_assert_num_queries(0):
        trees.files_of(tree)


def test_ten_thousand_files_are_one_tree_and_a_change_to_it_is_a_small_row(monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"folder {n % 100:02}/näme {n}.txt": info(str(n)) for n in range(10_000)}
    tree = trees.make_tree(dict(sorted(many.items())))
    after = trees.with_changes(tree, changed(new="N"))
    monkeypatch.setattr(trees, "_remembered", OrderedDict())
    assert (tree.file_count, len(trees.files_of(tree)), len(trees.files_of(after))) == (10_000, 10_000, 10_001)
    assert (after.root, list(after.changes)) == (tree, ["new"])


def test_a_tree_of_a_transaction_that_was_rolled_back_is_never_taken_for_another() -> None:
    with transaction.atomic():
        lost = trees.make_tree(files(a="lost"))
        trees.files_of(lost)
        transaction.set_rollback(True)
    again = trees.make_tree(files(b="kept"))
    assert (again.pk == lost.pk) == (connection.vendor == "sqlite"), "which gives the same key again: the point here"
    assert dict(trees.files_of(again)) == files(b="kept")


class Random(DjangoTestCase):
    @pytest.mark.slow
    @given(
        st.lists(st.dictionaries(st.sampled_from("abcde"), st.none() | st.sampled_from("123"), max_size=4), max_size=6)
    )
    def test_a_chain_of_changes_is_what_a_dictionary_would_be(self, history: list[dict[str, str | None]]) -> None:
        tree, expected = trees.make_tree({}), dict[str, FileInfo]()
        for step in history:
            tree = trees.with_changes(tree, changed(**step))
            expected |= {path: info(text) for path, text in step.items() if text is not None}
            expected = {path: found for path, found in expected.items() if step.get(path, "") is not None}
        assert dict(trees.files_of(tree)) == expected
        assert tree == trees.make_tree(dict(sorted(expected.items())))


# ---- conflicts ----------------------------------------------------------------------------------------------------


def test_only_paths_that_both_changed_are_in_conflict() -> None:
    base = trees.make_tree(files(a="A", b="B", c="C"))
    head = trees.with_changes(base, changed(a="A2", b=None, d="D"))
    assert trees.conflicts(base, head, changed(a="A3", b="B3", c="C3", d="D3", e="E3")) == ["a", "b", "d"]
    assert trees.conflicts(base, base, changed(a="A3")) == []
    assert trees.conflicts(base, head, changed(c=None)) == []


@pytest.mark.parametrize(("theirs", "mine"), [("out", "out/a"), ("out/a", "out"), ("Out", "out"), ("a/B/c", "a/b")])
def test_what_cannot_lie_beside_what_somebody_else_wrote_is_in_conflict(theirs: str, mine: str) -> None:
    base = trees.make_tree({})
    head = trees.with_changes(base, changed(**{theirs: "x"}))
    assert trees.conflicts(base, head, changed(**{mine: "y"})) == [mine]


def test_what_was_there_before_is_in_conflict_with_nobody() -> None:
    base = trees.make_tree(files(Readme="a", readme="b"))
    head = trees.with_changes(base, changed(other="c"))
    assert trees.conflicts(base, head, changed(README="d", new="e")) == []


# ---- overlays -----------------------------------------------------------------------------------------------------


def test_writes_go_to_the_overlay_and_never_to_the_tree() -> None:
    base = trees.make_tree({"a.md": blobs.put(b"A")})
    work = overlay(base)
    work.write("b/ä ü.md", b"B")
    work.write("a.md", b"A2")
    assert (work.read("a.md"), work.read("b/ä ü.md"), list(work.files())) == (b"A2", b"B", ["a.md", "b/ä ü.md"])
    assert dict(work.contents()) == {"a.md": b"A2", "b/ä ü.md": b"B"}
    assert list(trees.files_of(base)) == ["a.md"]


def test_an_overlay_that_is_made_again_from_its_changes_is_the_same() -> None:
    base = trees.make_tree({"a.md": blobs.put(b"A")})
    first = overlay(base)
    first.write("b.md", b"B")
    assert dict(overlay(base, first.changes).contents()) == {"a.md": b"A", "b.md": b"B"}
    assert overlay(base, {"a.md": None}).files() == {}


def test_what_is_not_there_cannot_be_read() -> None:
    base = trees.make_tree({"a.md": blobs.put(b"A")})
    for work, path in ((overlay(base), "b.md"), (overlay(base, {"a.md": None}), "a.md"), (overlay(base), "../a.md")):
        with pytest.raises(KeyError):
            work.read(path)


@pytest.mark.parametrize("path", ["../a", "/a", "C:/a", "a/../b", "", "a/", "con", "a\0", "@output"])
def test_nothing_is_written_outside_the_tree(path: str) -> None:
    work = overlay(trees.make_tree({}))
    with pytest.raises(PathRefused):
        work.write(path, b"x")
    assert work.changes == {}


@pytest.mark.parametrize(("there", "path"), [("a", "a/b"), ("a", "a/b/c"), ("a/b", "a"), ("A.md", "a.md")])
def test_a_file_cannot_lie_where_a_folder_or_its_twin_is(there: str, path: str) -> None:
    work = overlay(trees.make_tree(files(**{there: "x"})))
    with pytest.raises(UploadRefused, match=f"“{path}” cannot be next to “{there}”"):
        work.write(path, b"x")
    assert work.changes == {}


def test_the_most_files_may_be_there_and_one_of_them_replaced() -> None:
    work = overlay(trees.make_tree(files(a="A")), files=2)
    work.write("b", b"B")
    work.write("b", b"B2")
    with pytest.raises(UploadRefused, match="holds 2 files"):
        work.write("c", b"C")


def test_the_most_bytes_may_be_there_and_what_is_replaced_does_not_count() -> None:
    work = overlay(trees.make_tree(files(a="A" * 400)), size=1_000)
    work.write("b", b"x" * 600)
    work.write("b", b"y" * 600)
    with pytest.raises(UploadRefused, match="over 1,000 bytes"):
        work.write("b", b"z" * 601)
    assert work.read("b") == b"y" * 600
