"""What the file tools answer, and that nothing a model sends makes them raise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.contracts.base import JsonObject
from runs.contracts.ports import FileInfo, ToolResult
from runs.enums import Complexity
from runs.errors import LeaseLost, UploadRefused
from runs.pev.contracts import Criterion, PlanStep
from runs.pev.read_set import FileView, ReadTracker, holds
from runs.pev.tools.find_files import SearchFiles
from runs.pev.tools.registry import TOOL_NAMES, note_looks
from runs.pev.tools.service_tools import SERVICE_TOOLS
from runs.pev.tools.toolbox import RunTools
from tests.unit.pev import slow
from tests.unit.pev.tools.bench import FILES, Memory, run


def test_specs_are_sorted_closed_and_always_the_same() -> None:
    specs = RunTools(Memory({})).specs()
    names = [spec.name for spec in specs]
    reaching = SERVICE_TOOLS | {"ask_person", "delegate", "fetch_page", "run_command"}
    assert names == sorted(TOOL_NAMES - reaching), "nothing is reached but files"
    required = {
        "calculate": ["expression"],
        "comment_document": ["path", "quote", "comment"],
        "edit_file": ["path", "old", "new"],
        "glob": ["pattern"],
        "list_files": [],
        "read_file": ["path"],
        "search_files": ["pattern"],
        "table": ["path"],
        "write_file": ["path", "content"],
    }
    assert {spec.name: spec.input_schema["required"] for spec in specs if spec.name in required} == required
    assert all(spec.input_schema["additionalProperties"] is False for spec in specs)
    again = RunTools(Memory(FILES)).specs()
    assert json.dumps([spec.input_schema for spec in specs]) == json.dumps([spec.input_schema for spec in again])


class TestListFiles:
    def test_gives_size_and_path(self) -> None:
        listed = "4 files, size in bytes and path:\n19\ta.md\n12\tdocs/b.md\n0\tdocs/empty.txt\n8\tlogo.png"
        assert run("list_files", {}).text == listed
        assert run("list_files", {"prefix": "./"}).text == listed

    def test_says_of_some_files_why_they_cannot_be_read(self) -> None:
        memory = Memory({f"{n}.pdf": b"\0" for n in range(9)})
        lines = run("list_files", {}, memory, result_chars=200).text.splitlines()
        assert lines[10:] == ["[0.pdf is a scan]", "[1.pdf is a scan]", "[7 more cannot be read, or not as a whole]"]
        assert run("read_file", {"path": "8.pdf"}, memory).text == "8.pdf is a scan."

    def test_says_what_of_a_file_could_not_be_read(self) -> None:
        lines = run("list_files", {}, Memory({"a.pptx": b"a", "b.md": b"b"})).text.splitlines()
        assert lines[3:] == ["[a.pptx was read in part: Page 2 could not be read.]"]

    def test_of_a_prefix(self) -> None:
        listed = "2 files, size in bytes and path:\n12\tdocs/b.md\n0\tdocs/empty.txt"
        assert run("list_files", {"prefix": "docs/"}).text == listed
        assert run("list_files", {"prefix": "x"}).text == "There are no files whose path begins with “x”."

    def test_is_cut_by_number_and_by_length(self) -> None:
        cut = "4 files, size in bytes and path:\n19\ta.md\n[3 more are not listed; use a prefix to see them]"
        assert run("list_files", {}, listed_files=1).text == cut
        assert run("list_files", {}, result_chars=10).text == cut


class TestReadFile:
    def test_is_verbatim_after_one_line(self) -> None:
        assert run("read_file", {"path": "a.md"}).text == "a.md, lines 1-3 of 3\none\ntwo three\nfour"
        assert run("read_file", {"path": "docs\\b.md"}).text == "docs/b.md, lines 1-2 of 2\nTwo\r\nthree\r"

    def test_gives_the_lines_wanted(self) -> None:
        part = run("read_file", {"path": "a.md", "first_line": 2, "lines": 1})
        assert part.text == "a.md, lines 2-2 of 3\ntwo three\n[more follows; go on with first_line=3]"

    def test_is_cut_at_whole_lines(self) -> None:
        cut = run("read_file", {"path": "a.md"}, result_chars=14)
        assert cut.text == "a.md, lines 1-2 of 3\none\ntwo three\n[more follows; go on with first_line=3]"

    def test_cuts_a_line_that_is_too_long_by_itself(self) -> None:
        cut = run("read_file", {"path": "long"}, Memory({"long": b"x" * 50 + b"\ny"}), result_chars=20)
        assert cut.text.startswith("long, lines 1-1 of 2\n" + "x" * 20 + "\n[cut: line 1 has 50 characters")
        assert cut.text.endswith("[more follows; go on with first_line=2]")

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({"path": "logo.png"}, "logo.png is not a text file."),
            ({"path": "b.md"}, "b.md does not exist; there is docs/b.md."),
            ({"path": "c.md"}, "c.md does not exist; list_files shows what there is."),
            ({"path": "a.md", "first_line": 4}, "a.md has only 3 lines; first_line is 4."),
        ],
    )
    def test_says_what_is_wrong(self, arguments: JsonObject, sentence: str) -> None:
        assert run("read_file", arguments) == ToolResult(sentence, is_error=True)

    def test_of_an_empty_file(self) -> None:
        assert run("read_file", {"path": "docs/empty.txt"}).text == "docs/empty.txt is empty"


class TestSearchFiles:
    def test_finds_lines_whatever_the_capitals(self) -> None:
        assert run("search_files", {"pattern": "TWO"}).text == "a.md:2: two three\ndocs/b.md:1: Two"

    def test_takes_the_pattern_literally_unless_told(self) -> None:
        missing = "No line matches “t.o” in the text files among these 4."
        assert run("search_files", {"pattern": "t.o"}) == ToolResult(missing)
        assert run("search_files", {"pattern": "^t.o", "regex": True, "prefix": "a"}).text == "a.md:2: two three"

    @pytest.mark.parametrize(
        ("line", "pattern"),
        [
            ("the tenant’s death", "tenant's"),
            ("die Ku\u0308ndigung", "Kündigung"),
            ("limitation\u00a0of liability", "limitation of liability"),
            ("confi\u00addential", "confidential"),
            ("conﬁdential", "confidential"),
            ("pe\u200bnalty", "penalty"),
            ("an I N D E M N I T Y", "indemnity"),
            ("the реnalty", "penalty"),
            ("“good leaver”", '"good leaver"'),
            ("The **force** majeure", "force majeure"),
            ("５００ francs", "500 francs"),
        ],
    )
    def test_finds_all_that_could_be_the_words_and_shows_the_line_as_it_is(self, line: str, pattern: str) -> None:
        memory = Memory({"a.md": f"One.\n{line}\nThree.\n".encode()})
        assert run("search_files", {"pattern": pattern}, memory).text == f"a.md:2: {line}"

    def test_finds_words_that_a_line_break_has_broken(self) -> None:
        memory = Memory({"a.md": b"by in-\nference only\nand limitation\nof liability"})
        assert run("search_files", {"pattern": "inference"}, memory).text == "a.md:1: by in-"
        found = run("search_files", {"pattern": "limitation of liability"}, memory)
        assert found.text == "a.md:3: and limitation"

    def test_says_that_an_expression_is_exact_where_it_finds_nothing(self) -> None:
        memory = Memory({"a.md": "the tenant’s death".encode()})
        found = run("search_files", {"pattern": "tenant's", "regex": True}, memory)
        assert found.text == (
            "No line matches “tenant's” in the text files among these 1. A regular expression matches only what is "
            "written exactly so: other accents, quotation marks, hyphens or broken lines are not found. Search for the "
            "words without regex to learn whether they are there."
        )

    @pytest.mark.parametrize(("regex", "proves"), [(False, True), (True, False)])
    def test_only_a_search_for_all_that_could_be_the_words_proves_that_there_are_none(
        self, regex: bool, proves: bool
    ) -> None:
        asked = SearchFiles.model_validate({"pattern": "penalty", "regex": regex})
        info = FileInfo(sha256="0" * 64, size=1)
        assert asked.finds_nothing_in({"a.md": info}, {"a.md": b"Nothing of it."}) is proves
        assert not asked.finds_nothing_in({"a.md": info}, {"a.md": "a pe\u200bnalty".encode()})

    def test_refuses_a_pattern_that_nobody_sees(self) -> None:
        refused = run("search_files", {"pattern": " \u200b"})
        assert (refused.is_error, refused.text) == (
            True,
            "The pattern has no visible character; give the words to find.",
        )

    def test_shows_a_line_once_and_what_is_around_a_hit_in_a_long_one(self) -> None:
        memory = Memory({"long": b"x" * 900 + b"two two" + b"y" * 900})
        found = run("search_files", {"pattern": "two"}, memory, hit_chars=30)
        assert found.text == f"long:1: …{'x' * 10}two two{'y' * 13}…"

    def test_stops_after_so_many_hits(self) -> None:
        note = "\n[there are more than 1; use a narrower pattern or a prefix]"
        assert run("search_files", {"pattern": "two"}, hits=1).text == "a.md:2: two three" + note
        assert run("search_files", {"pattern": "one"}, hits=1).text == "a.md:1: one"

    @pytest.mark.slow
    def test_stops_when_the_time_is_over(self) -> None:
        memory = Memory({"a": b"a hit", "b": slow.TEXT.encode()})
        asked: JsonObject = {"pattern": f"^a hit|{slow.PATTERN}", "regex": True}
        found = run("search_files", asked, memory, search_seconds=0.2)
        assert found.text.startswith("a:1: a hit\n[of 2 files not all were searched: it took")
        nothing = run("search_files", {**asked, "prefix": "b"}, memory, search_seconds=0.2)
        assert nothing.is_error
        assert nothing.text.startswith("Nothing was found so far.\n[of 1 files not all")

    @pytest.mark.parametrize("pattern", ["(", "a{2000000000}", "(?x) a", "\\", "a(?=b)", r"(a)\1"])
    def test_refuses_a_bad_pattern(self, pattern: str) -> None:
        refused = run("search_files", {"pattern": pattern, "regex": True})
        assert refused.is_error
        assert refused.text.startswith("The pattern cannot be used: ")


class TestWriteFile:
    def test_creates_and_replaces(self) -> None:
        memory = Memory(FILES)
        written = run("write_file", {"path": "new\\n.md", "content": "ä\nb"}, memory)
        assert written == ToolResult("new/n.md was created: 4 bytes, 2 lines.")
        assert memory.content["new/n.md"] == "ä\nb".encode()
        assert run("write_file", {"path": "a.md", "content": ""}, memory).text == "a.md was replaced: 0 bytes, 0 lines."

    @pytest.mark.parametrize(
        ("path", "content", "part"),
        [
            ("../a", "x", "the part “..”"),
            ("/a", "x", "it is absolute"),
            ("@output", "x", "names beginning with @"),
            (".git/hooks/pre-commit", "x", "version control"),
            ("a.txt:stream", "x", "a colon"),
            ("txt.\u202eexe", "x", "an invisible character"),
            ("con", "x", "a reserved name on Windows"),
            ("a", "x\0", "NUL"),
            ("a", "\ud800", "surrogate"),
            ("a", "x" * 11, "a would have 11 bytes and may have 10"),
        ],
    )
    def test_refuses(self, path: str, content: str, part: str) -> None:
        memory = Memory(FILES)
        refused = run("write_file", {"path": path, "content": content}, memory, file_bytes=10)
        assert refused.is_error
        assert part in refused.text
        assert memory.content == FILES

    def test_passes_on_what_the_workspace_says(self) -> None:
        memory = Memory(FILES, UploadRefused("There are too many files."))
        refused = run("write_file", {"path": "a", "content": "x"}, memory)
        assert refused == ToolResult("There are too many files.", is_error=True)

    def test_does_not_swallow_a_lost_lease(self) -> None:
        with pytest.raises(LeaseLost):
            run(
                "write_file",
                {"path": "a", "content": "x"},
                Memory(FILES, LeaseLost("Somebody else owns it.")),
            )


class TestEditFile:
    def edit(self, data: bytes, old: str, new: str) -> tuple[ToolResult, bytes]:
        memory = Memory({"a.md": data})
        return run("edit_file", {"path": "a.md", "old": old, "new": new}, memory), memory.content["a.md"]

    def test_replaces_the_one_place(self) -> None:
        done = (ToolResult("a.md was changed in line 2."), b"one\n2 three\n")
        assert self.edit(b"one\ntwo three\n", "two", "2") == done

    def test_keeps_the_byte_order_mark_and_line_endings(self) -> None:
        _, data = self.edit(b"\xef\xbb\xbfa\r\nb\r\n", "a\nb", "c\nd")
        assert data == b"\xef\xbb\xbfc\r\nd\r\n"
        assert self.edit(b"a", "a", "b\nc")[1] == b"b\nc"

    @pytest.mark.parametrize(
        ("data", "old", "new", "sentence"),
        [
            (
                b"x\ny\nx x",
                "x",
                "z",
                "“x” occurs 3 times in a.md, on lines 1, 3, 3; give more of the text around it.",
            ),
            (
                b"aaa",
                "aa",
                "b",
                "“aa” occurs 2 times in a.md, on lines 1, 1; give more of the text around it.",
            ),
            (b"x", "y", "z", "“y” does not occur in a.md; read_file shows its text."),
            (b"\na  b", "a b", "z", "“a b” occurs in a.md, line 2, but with other spaces; copy it exactly."),
            (b"x", "x", "x", "The old and the new text are the same; nothing would change."),
        ],
    )
    def test_refuses(self, data: bytes, old: str, new: str, sentence: str) -> None:
        assert self.edit(data, old, new) == (ToolResult(sentence, is_error=True), data)

    def test_counts_no_further_than_needed(self) -> None:
        result, _ = self.edit(b"a" * 1_000_000, "a" * 1_000, "b")
        assert "occurs more than 10 times" in result.text


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        (
            "shell",
            {},
            f"There is no tool “shell”; there are {', '.join(spec.name for spec in RunTools(Memory({})).specs())}.",
        ),
        (
            "read_file",
            {"file": "a", "lines": 0},
            "read_file was not run. `path` is missing; `lines` has to be 1 or more; "
            "`file` is not asked for; leave it out. It takes path, first_line (optional), lines (optional), "
            "place (optional).",
        ),
    ],
)
def test_wrong_calls_are_told_exactly(name: str, arguments: JsonObject, sentence: str) -> None:
    assert run(name, arguments) == ToolResult(sentence, is_error=True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(sorted(FILES)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
PARAMETERS = st.sampled_from(["path", "content", "old", "new", "pattern", "prefix", "regex", "lines", "first_line"])


@given(
    st.one_of(st.sampled_from(sorted(TOOL_NAMES)), st.text()),
    st.dictionaries(PARAMETERS | st.text(max_size=5), JSON, max_size=5),
)
def test_tools_never_raise(name: str, arguments: JsonObject) -> None:
    assert isinstance(run(name, arguments, search_seconds=0.2).text, str)


@given(
    st.sampled_from(sorted(FILES)) | st.text(max_size=10),
    st.text("two\n(){}*+?[]\\ \0\ud800", min_size=1, max_size=8),
    st.text(max_size=5),
    st.integers(-2, 5),
)
def test_tools_never_raise_on_arguments_that_fit(path: str, text: str, other: str, number: int) -> None:
    memory = Memory(FILES)
    calls: list[tuple[str, JsonObject]] = [
        ("edit_file", {"path": path, "old": text, "new": other}),
        ("write_file", {"path": path, "content": text}),
        ("read_file", {"path": path, "first_line": number, "lines": number}),
        ("search_files", {"pattern": text, "regex": True, "prefix": other}),
        ("list_files", {"prefix": text}),
    ]
    for name, arguments in calls:
        assert run(name, arguments, memory, search_seconds=0.2, result_chars=200).text


# ---- what an answer rests on

LOOKED_AT: list[tuple[str, JsonObject, set[str], set[str]]] = [
    ("read_file", {"path": "./docs//b.md"}, set(), {"meant"}),
    ("read_file", {"path": "docs\\b.md"}, {"docs/b.md"}, {"meant"}),
    ("read_file", {"path": "b.md"}, {"b.md"}, {"meant", "names"}),
    ("read_file", {"path": 1}, set(), {"meant"}),
    ("list_files", {"prefix": "./docs"}, set(), {"meant", "listing docs"}),
    ("list_files", {}, set(), {"meant", "listing "}),
    ("search_files", {"pattern": "two", "prefix": "."}, {"a.md", "docs/b.md"}, {"meant", "contents "}),
    ("search_files", {"pattern": "two", "prefix": "a"}, {"a.md"}, {"meant", "contents a"}),
    ("write_file", {"path": "new.md", "content": ""}, {"new.md"}, {"meant"}),
    ("edit_file", {"path": "a.md", "old": "one", "new": "1"}, {"a.md"}, {"meant"}),
    ("no_tool", {"path": "a.md"}, set(), {"meant"}),
]


@pytest.mark.parametrize(("name", "arguments", "files", "sets"), LOOKED_AT)
def test_a_call_notes_what_its_answer_rests_on(
    name: str, arguments: JsonObject, files: set[str], sets: set[str]
) -> None:
    looks, memory = ReadTracker(), Memory(FILES)
    note_looks(looks, name, arguments, run(name, arguments))
    reads = looks.recorded(view_of(memory))
    assert (set(reads.files), set(reads.sets)) == (files, sets)


def view_of(memory: Memory) -> FileView:
    step = PlanStep(
        step_id="one",
        name="One",
        description="Do it.",
        actions=[],
        acceptance_criteria=[Criterion(text="It is done.")],
        inputs=["none.md"],
        expected_outputs=[],
        dependencies=[],
        estimated_complexity=Complexity.LOW,
    )
    return FileView(memory.files(), memory.files(), step)


PATHS = st.sampled_from(["a.md", "b.md", "in/a.md", "in/b.md"])
WORKSPACES = st.dictionaries(PATHS, st.sampled_from([b"", b"one\n", b"two\n", b"one\ntwo\n", b"\0one"]))
PREFIXES = st.sampled_from(["", "a", "in", "/in/", "none"])
CALLS = st.one_of(
    st.tuples(st.just("read_file"), st.fixed_dictionaries({"path": PATHS, "first_line": st.sampled_from([1, 2])})),
    st.tuples(st.just("list_files"), st.fixed_dictionaries({"prefix": PREFIXES})),
    st.tuples(
        st.just("search_files"),
        st.fixed_dictionaries({"prefix": PREFIXES, "pattern": st.sampled_from(["one", "two", "none"])}),
    ),
    st.tuples(st.just("write_file"), st.fixed_dictionaries({"path": PATHS, "content": st.just("two\n")})),
    st.tuples(
        st.just("edit_file"),
        st.fixed_dictionaries({"path": PATHS, "old": st.just("one"), "new": st.sampled_from(["two", "one"])}),
    ),
)


@given(st.lists(CALLS, min_size=1, max_size=3), WORKSPACES, WORKSPACES)
def test_where_what_was_noted_is_the_same_every_answer_is(
    calls: list[tuple[str, JsonObject]], files: dict[str, bytes], others: dict[str, bytes]
) -> None:
    looks, memory, elsewhere = ReadTracker(), Memory(files), Memory(others)
    then, now = view_of(memory), view_of(elsewhere)
    answers = [run(name, arguments, memory) for name, arguments in calls]
    for (name, arguments), answer in zip(calls, answers, strict=True):
        note_looks(looks, name, arguments, answer)
    if holds(looks.recorded(then), now):
        assert [run(name, arguments, elsewhere).text for name, arguments in calls] == [one.text for one in answers]
