"""What was looked at is recorded with what was there, compared with other files, and bounded."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Callable, Mapping

import pytest

from runs.contracts.ports import FileInfo
from runs.enums import Complexity
from runs.pev.contracts import Criterion, PlanStep
from runs.pev.read_set import MAX_FILES, MAX_SETS, FileView, ReadSet, ReadTracker, concerned, holds
from tests.work import growth


def info(text: str) -> FileInfo:
    return FileInfo(hashlib.sha256(text.encode()).hexdigest(), len(text))


def step(*inputs: str) -> PlanStep:
    return PlanStep(
        step_id="one",
        name="One",
        description="Write it.",
        actions=[],
        acceptance_criteria=[Criterion(text="It is there.")],
        inputs=list(inputs),
        expected_outputs=[],
        dependencies=[],
        estimated_complexity=Complexity.LOW,
    )


GIVEN = {"a.md": "A", "b.md": "B", "in/c.md": "C"}


def view(given: Mapping[str, str] = GIVEN, made: Mapping[str, str] | None = None, **fields: object) -> FileView:
    infos = {path: info(text) for path, text in given.items()}
    now = infos | {path: info(text) for path, text in (made or {}).items()}
    return FileView(infos, now, step("none"), **fields)  # type: ignore[arg-type]


def recorded(look: Callable[[ReadTracker], object], then: FileView) -> ReadSet:
    looks = ReadTracker()
    look(looks)
    return looks.recorded(then)


LOOKS: dict[str, Callable[[ReadTracker], object]] = {
    "a": lambda looks: looks.file("a.md"),
    "missing": lambda looks: looks.file("new.md"),
    "contents": lambda looks: looks.contents(""),
    "contents in": lambda looks: looks.contents("in/"),
    "listing": lambda looks: looks.listing(""),
    "listing in": lambda looks: looks.listing("in/"),
    "names": lambda looks: looks.names(),
    "everything": lambda looks: looks.everything(),
    "nothing": lambda looks: None,
}


@pytest.mark.parametrize(
    ("change", "voids"),
    [
        ({}, ""),
        ({"a.md": "X"}, "a, contents, everything"),
        ({"a.md": "longer"}, "a, contents, listing, everything"),
        ({"in/c.md": "X"}, "contents, contents in, everything"),
        ({"in/c.md": "longer"}, "contents, contents in, listing, listing in, everything"),
        ({"new.md": "N"}, "missing, contents, listing, names, everything"),
        ({"in/new.md": "N"}, "contents, contents in, listing, listing in, names, everything"),
    ],
)
def test_a_change_of_the_given_files_voids_what_looked_at_it(change: dict[str, str], voids: str) -> None:
    now = view({**GIVEN, **change})
    found = {name: recorded(look, view()) for name, look in LOOKS.items()}
    assert ", ".join(name for name, reads in found.items() if not holds(reads, now)) == voids
    assert ", ".join(name for name, reads in found.items() if concerned(reads, view(), now)) == voids


def test_a_file_that_is_gone_voids_too() -> None:
    now = view({path: text for path, text in GIVEN.items() if path != "a.md"})
    found = [name for name, look in LOOKS.items() if not holds(recorded(look, view()), now)]
    assert found == ["a", "contents", "listing", "names", "everything"]


def test_what_the_run_made_of_a_given_file_is_another_state_of_it() -> None:
    """Whether words were given or made decides what they prove."""
    made = view({**GIVEN, "a.md": "X"}, {"a.md": "A"})
    assert not holds(recorded(LOOKS["a"], view()), made)
    assert not holds(recorded(LOOKS["listing"], view()), made)


def test_what_a_content_reads_as_counts_with_it() -> None:
    then = view(unreadable={info("A").sha256: "is a picture"})
    assert not holds(recorded(LOOKS["a"], then), view())
    assert not holds(recorded(LOOKS["listing"], then), view())


def test_a_listing_says_why_a_file_cannot_be_read() -> None:
    why = {info("A").sha256: "is a picture", info("X").sha256: "is encrypted"}
    then, now = view(unreadable=why), view({**GIVEN, "a.md": "X"}, unreadable=why)
    assert holds(recorded(LOOKS["listing"], then), then)
    assert not holds(recorded(LOOKS["listing"], then), now)


def test_a_listing_says_how_much_a_document_is() -> None:
    extents = {info("A").sha256: "1 page", info("X").sha256: "2 pages"}
    then, now = view(extents=extents), view({**GIVEN, "a.md": "X"}, extents=extents)
    assert holds(recorded(LOOKS["listing"], then), then)
    assert not holds(recorded(LOOKS["listing"], then), now)


def test_files_that_others_write_meanwhile_are_in_no_set_but_count_when_they_are_read() -> None:
    late = view(made={"other.md": "O", "b.md": "X"}, loose=frozenset({"other.md", "b.md"}))
    sets = [recorded(look, late) for name, look in LOOKS.items() if name != "everything"]
    assert all(holds(reads, view(loose=frozenset({"other.md", "b.md"}))) for reads in sets)
    read = recorded(lambda looks: looks.file("other.md"), late)
    assert holds(read, late)
    assert not holds(read, view())


@pytest.mark.parametrize(
    ("inputs", "change", "void"),
    [
        ([], {"new.md": "N"}, True),
        ([], {"a.md": "other"}, False),
        ([], {"empty.md": "no more"}, True),
        (["in"], {"new.md": "N"}, False),
        (["in"], {"in/new.md": "N"}, True),
        (["in"], {"empty.md": "no more"}, False),
    ],
)
def test_the_files_that_a_step_is_to_deal_with_count_by_name(
    inputs: list[str], change: dict[str, str], void: bool
) -> None:
    files = {path: info(text) for path, text in {**GIVEN, "empty.md": ""}.items()}
    others = files | {path: info(text) for path, text in change.items()}
    reads = ReadTracker().recorded(FileView(files, files, step(*inputs)))
    assert holds(reads, FileView(others, others, step(*inputs))) != void


def test_a_watched_mapping_notes_what_is_asked_of_it() -> None:
    looks = ReadTracker()
    files = looks.over({"a.md": b"A", "b.md": b"B"})
    assert (files["a.md"], "c.md" in files, files.get("d.md")) == (b"A", False, None)
    assert list(looks.recorded(view()).files) == ["a.md", "c.md", "d.md"]
    assert set(looks.recorded(view()).sets) == {"meant"}
    assert sorted(files) == ["a.md", "b.md"]
    assert [path for path in ("e.md", "b.md") if path in files] == ["b.md"]
    assert list(looks.recorded(view()).files) == ["a.md", "c.md", "d.md"], "who knows the names knows what is there"
    assert set(looks.recorded(view()).sets) == {"meant", "names"}


def test_a_mapping_watched_without_contents_notes_only_that_it_was_gone_through() -> None:
    looks = ReadTracker()
    files = looks.over({"a.md": 1}, contents=False)
    assert (files["a.md"], "b.md" in files) == (1, False)
    assert looks.recorded(view()) == ReadTracker().recorded(view())
    assert len(files) == 1
    assert set(looks.recorded(view()).sets) == {"meant", "names"}


def test_earlier_looks_are_recorded_as_they_are_now() -> None:
    looks = ReadTracker()
    looks.earlier(recorded(LOOKS["a"], view()))
    looks.earlier(recorded(LOOKS["listing in"], view()))
    now = view({**GIVEN, "a.md": "X"})
    assert looks.recorded(now).files == {"a.md": info("X").sha256}
    assert holds(looks.recorded(now), now)
    looks.earlier(None)
    assert set(looks.recorded(now).sets) == {"everything"}


def test_five_thousand_files_read_become_one_digest_of_everything_at_once() -> None:
    paths = [f"folder/{number}.md" for number in range(5_000)]
    then = view(dict.fromkeys(paths, "Words."))
    looks = ReadTracker()
    files = looks.over(dict.fromkeys(paths, b"Words."))
    for _ in range(5):
        assert all(files[path] for path in paths)
    reads = looks.recorded(then)
    assert (reads.files, set(reads.sets)) == ({}, {"everything"})
    assert len(reads.model_dump_json()) < 200
    assert holds(reads, view(dict.fromkeys(paths, "Words.")))
    assert not holds(reads, view({**dict.fromkeys(paths, "Words."), paths[17]: "Other words."}))


def test_the_work_of_noting_what_is_read_grows_with_the_files() -> None:
    def read(size: int) -> ReadSet:
        paths = [f"folder/{number}.md" for number in range(size)]
        looks = ReadTracker()
        files = looks.over(dict.fromkeys(paths, b"Words."))
        assert all(files[path] for path in paths)
        return looks.recorded(view(dict.fromkeys(paths, "Words.")))

    assert growth(read, 200) < 5


def test_names_without_end_take_the_memory_of_few() -> None:
    looks = ReadTracker()
    tracemalloc.start()
    for number in range(20_000):
        looks.file(f"{number}.md")
        looks.listing(f"{number}")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000


def test_as_many_as_are_noted_one_by_one_keep_the_rest_out() -> None:
    looks = ReadTracker()
    for number in range(MAX_FILES):
        looks.file(f"{number}.md")
    reads = looks.recorded(view())
    assert len(reads.files) == MAX_FILES
    assert holds(reads, view({**GIVEN, "a.md": "X"}))


def test_very_many_questions_about_many_files_become_one() -> None:
    looks = ReadTracker()
    for number in range(MAX_SETS - 1):
        looks.listing(str(number))
    assert len(looks.recorded(view()).sets) == MAX_SETS
    for number in range(5_000):
        looks.listing(str(number))
    assert set(looks.recorded(view()).sets) == {"everything"}


@pytest.mark.parametrize("path", ["@tool-1", "@result/a.md", "x" * 401, "a\0b", "\ud800", "a\nb"])
def test_what_can_be_no_path_is_not_kept(path: str) -> None:
    looks = ReadTracker()
    looks.file(path)
    looks.listing(path)
    reads = looks.recorded(view())
    assert reads.files == {}
    assert all(asked.isprintable() and len(asked) < 500 for asked in reads.sets)
    assert holds(reads, view())
