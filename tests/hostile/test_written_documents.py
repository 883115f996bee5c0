"""Documents of hostile Markdown: each is made or refused within bounds, in a process of its own."""

import json
from collections.abc import Mapping

import pytest

from runs.documents import made_files
from runs.errors import InvalidInput
from runs.isolation import Limits

TEXTS: Mapping[str, str] = {
    "quotations": "> " * 20_000 + "x",
    "lists": "".join("  " * depth + "- a\n" for depth in range(300)),
    "stars": "*a " * 30_000,
    "columns": "|" + "a|" * 500 + "\n|" + "-|" * 500 + "\n|" + "b|" * 500,
    "one word": "x" * 300_000,
    "long": ("word " * 200 + "\n\n") * 500,
}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["docx", "pdf"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_hostile_markdown_is_written_or_refused_in_words(form: str, text: str) -> None:
    refusal = ""
    try:
        assert made_files.make(form, data(text))
    except InvalidInput as error:
        refusal = str(error)
    assert not refusal.startswith("was not made"), "the writer has ended early, or took too long"


@pytest.mark.parametrize("text", [TEXTS["quotations"], TEXTS["lists"]])
def test_what_is_nested_too_deeply_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        made_files.make("docx", data(text))
    assert str(caught.value) == "has lists or quotations in more than 100 levels; write it with fewer"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["docx", "pdf"])
def test_what_takes_too_long_is_ended(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    short = made_files.MAKERS[form]._replace(limits=Limits(megabytes=2_000, cpu_seconds=0.5, seconds=5, files=64))
    monkeypatch.setattr(made_files, "MAKERS", {form: short})
    with pytest.raises(InvalidInput) as caught:
        made_files.make(form, data("|a|b|\n|-|-|\n" + "|1|2|\n" * 20_000))
    assert str(caught.value) == "was not made: it took more than 0.5 seconds of the processor; write less, or split it"


def data(text: str) -> bytes:
    return json.dumps({"title": "t", "text": text, "known": "k:", "notes": []}).encode()
