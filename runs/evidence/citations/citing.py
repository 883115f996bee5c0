"""The rule of the house on citations: what of a deliverable is broken, and which files must not have any (T8)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import unquote

from runs.documents.content import document_of, text_of
from runs.evidence.citations.citation import EXAMPLE, Citation, Cited, Library
from runs.evidence.citations.lookup import citations_in, noted_in
from runs.evidence.sources import GivenFiles, Sources, ToolText

LISTED = 20
"""Broken citations that a critique names."""
HOW = (
    f"Write each as `{EXAMPLE}`: the verbatim words of the source, its path from the top folder, and the line in which "
    "they begin."
)
_MARKDOWN = (".md", ".markdown")
_DOCUMENTS = (".docx", ".pdf")


def is_markdown(path: str) -> bool:
    return path.lower().endswith(_MARKDOWN)


def may_cite(path: str) -> bool:
    """Whether a file of this name has citations when a run has made it: as links, or as notes."""
    return is_markdown(path) or path.lower().endswith(_DOCUMENTS)


@dataclass(frozen=True)
class Delivered:
    """What a run hands over in addition to its answer: those of its `files` that it `made`.

    The `finished` ones must not carry citations. `given`: its inputs. `earlier`: the tool calls of its steps, by their
    names as sources.
    """

    made: Collection[str]
    files: Mapping[str, bytes]
    given: GivenFiles
    finished: Collection[str]
    earlier: Mapping[str, ToolText] = field(default_factory=dict)

    @cached_property
    def sources(self) -> Sources:
        return Sources(self.files, self.given, made=self.made, earlier=self.earlier)

    def broken_in(self, answer: str) -> list[str]:
        """A sentence for each broken citation of an answer."""
        return broken_in(citations_in(answer, self.sources))

    def broken(self, answer: str) -> list[str]:
        """A sentence for each broken citation in all that is handed over."""
        files = problems_of(self.made, self.files, self.given.files, self.sources, self.finished)
        named = [f"{path}: {sentence}" for path, sentences in files.items() for sentence in sentences]
        return [*named, *(f"The answer: {sentence}" for sentence in self.broken_in(answer))]


def problems_of(
    paths: Collection[str],
    files: Mapping[str, bytes],
    given: Mapping[str, bytes],
    library: Library,
    finished: Collection[str] = (),
) -> dict[str, list[str]]:
    """A sentence for each broken citation of the Markdown files, Word and PDF documents among `paths`, by path; in one
    that is `finished` each citation is one too many. What a given file had already is not looked at.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(filter(may_cite, paths)):
        text = text_of(files[path]) if path in files else None
        before = given.get(path)
        if not text or files[path] == before:
            continue
        if document := document_of(files[path]):
            cited = noted_in(document, library)
        else:
            looked_up = citations_in(text, library, finished=path in finished)
            cited = of_the_run(text, looked_up, (text_of(before) if before else None) or "")
        problems = too_many(cited) if path in finished else broken_in(cited)
        if problems:
            found[path] = problems
    return found


def of_the_run(text: str, cited: Cited, before: str) -> Cited:
    """The citations of a text without those that stood in the text before."""
    if not before:
        return cited
    links = tuple(one for one in cited.links if text[one.start : one.end] not in before)
    return replace(cited, links=links)


def broken_in(cited: Cited) -> list[str]:
    """A sentence for each broken citation, with its place in the text."""
    problems = [cited.problem] if cited.problem else []
    return problems + [broken_line(one) for one in cited.broken]


def broken_line(one: Citation) -> str:
    return f"{one.stands}: {one.sentence}."


def first_of(problems: Sequence[str]) -> str:
    """The first of these sentences, and how many more there are: for people, and for models that know the form."""
    more = [f"And {len(problems) - LISTED} more."] if len(problems) > LISTED else []
    return " ".join([*problems[:LISTED], *more])


def message_of(problems: Sequence[str]) -> str:
    """The same for a model, with how to write a citation that holds."""
    return f"{first_of(problems)} {HOW}"


def too_many(cited: Cited) -> list[str]:
    """A sentence for each citation of a text that must not have any."""
    return [superfluous_line(one) for one in cited.citations if one.by_form]


def superfluous_line(one: Citation) -> str:
    return f"{one.stands} has one: {one.source or unquote(one.target.partition('#')[0])}."
