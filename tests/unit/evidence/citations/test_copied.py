"""Links that a text quotes from a given file are found there, and those that only look like them are not."""

import pytest

from runs.enums import Provenance
from runs.evidence.citations.lookup import copied

README = "# Tool\n\nFirst see [the\nsetup](docs/setup.md#L3), then ![a [b](c) d](x).\n"


class Files(dict[str, bytes]):
    def provenance(self, name: str) -> Provenance:
        return Provenance.MADE if name.startswith("made") else Provenance.GIVEN

    def __getitem__(self, name: str) -> bytes:
        if name == "lost.md":
            raise FileNotFoundError(name)
        return super().__getitem__(name)


FILES = Files(
    {"lost.md": b"", "made.md": b"[made](x.md)", "main.py": b'"""See [x](y.md)."""', "README.md": README.encode()}
)


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("[the\nsetup](docs/setup.md#L3)", "README.md"),
        ("[the setup](docs/setup.md#L3)", "README.md"),
        ("[the\n> setup](docs/setup.md#L3)", "README.md"),
        ("[b](c)", "README.md"),
        ("[x](y.md)", "main.py"),
    ],
)
def test_a_link_that_stands_in_a_given_file_is_copied(link: str, name: str) -> None:
    assert copied([link], FILES) == {link: name}


@pytest.mark.parametrize(
    "link",
    [
        "[a setup](docs/setup.md#L3)",
        "[the setup](docs/setup.md#L4)",
        "[the setup](docs/setup.md)",
        "[made](x.md)",
        "[b]",
        "[b][c]",
    ],
    ids=["other words", "another line", "no line", "the run's own", "no target", "a reference"],
)
def test_any_other_link_is_not(link: str) -> None:
    assert copied([link], FILES) == {}


def test_spellings_of_one_link_are_all_found() -> None:
    links = ["[x](y.md)", "[b](c)", "[b](d)", "[x](y.md) ".strip()]

    assert copied(links, FILES) == {"[x](y.md)": "main.py", "[b](c)": "README.md"}
