"""How citations are shown: as links to the highlighted place; corrected and broken ones are marked."""

from collections.abc import Callable

from runs.enums import CitationStatus
from runs.evidence.citations.citation import Citation, Cited
from runs.evidence.citations.words import words_of
from runs.readmodel.markdown_escaping import line

REST = "This text is long: only its first citations were looked up here. The others are shown as they are written."


type Address = Callable[[Citation], str]


def linked(text: str, cited: Cited, address: Address, nearest: Address = lambda one: "") -> str:
    """The Markdown with each citation as a link to its place. One that leads nowhere becomes words that say so, and
    these lead to what is `nearest`, if anything is.
    """
    if cited.problem:
        return f"*{line(cited.problem)}*\n\n{_without_links(text)}"
    end = len(text) if cited.until is None else cited.until
    parts = [] if cited.until is None else [f"*{line(REST)}*\n\n"]
    at = 0
    for number, one in enumerate(cited.links):
        parts.append(text[at : one.start])
        words = words_of(text[one.start : one.end])
        parts.append(_broken(one, words, nearest(one)) if one.broken else _shown(one, words, address))
        following = [(two.statement_start, two.weak) for two in cited.links[number + 1 : number + 2]]
        if one.weak and following != [(one.statement_start, one.weak)]:
            parts.append(f" *({line(one.weak)})*")
        at = one.end
    return "".join([*parts, text[at:end], _without_links(text[end:])])


def _without_links(text: str) -> str:
    """As an entity a bracket begins no link, whatever stands before it."""
    return text.replace("[", "&#91;")


def _broken(one: Citation, words: str, nearest: str) -> str:
    said = f"\\[broken citation: {line(one.target)}. {line(one.sentence)}\\]"
    return f"{line(words)} **[{said}](<{nearest}>)**" if nearest else f"{line(words)} **{said}**"


def _shown(one: Citation, words: str, address: Address) -> str:
    if one.status is CitationStatus.COPIED:
        return f"{line(words)} *(a link of {line(one.source)})*"
    return f"[{words}](<{address(one)}>)" + _correction(one)


def _correction(one: Citation) -> str:
    return f" *({line(one.correction)})*" if one.correction else ""
