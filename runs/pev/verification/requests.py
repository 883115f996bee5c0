"""What people asked for when they rejected a result. It is judged together with the criteria, by
what changed since (T7).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import regex

from runs.contracts.base import DIFF, OUTPUT, PERSON, RESULT, QuotedEvidence
from runs.documents.content import text_of
from runs.enums import Provenance
from runs.evidence.quotes import resolve, unverified, words_in
from runs.evidence.relation import unrelated_to_request
from runs.evidence.results import Evidence, RequestResult
from runs.pev.contracts import CriterionAnswer
from runs.pev.delimiters import beginning_of, delimited
from runs.text.diff import DiffBudget, changed_lines
from runs.text.normalisation import caseless, contains_text, one_spaced
from runs.text.sentences import parts_in
from runs.text.truncate import quoted

COMPARED_CHARS = 2_000_000
"""Characters of both results together. Beyond that nothing can be shown to be new, and the person is asked."""
DIFF_CHARS = 40_000  # of the changes since a rejection
WORDS_CHARS = 8_000
"""Characters of a difference, and of the words of one person, that are shown to a verifier."""
MAX_PARTS = 20
"""Lines of a quote that are compared one by one. The rest counts as one line."""
_FIGURE = regex.compile(r"\p{N}")
_FILLER = frozenset(
    words_in(
        "a about added addressed also an and applied are as asked been both by changed comment comments complete "
        "completed considered did do done feedback fixed follow following for from fulfilled has have here i in "
        "incorporated included is it its met note notes now of ok okay on per person please remark remarks request "
        "requested requests required requirement review reviewer see that the their them there they this to updated "
        "was we were will wish with yes you your "
        "als auch auf aus das dem den der des die ein eine einer erledigt es für gewünscht hier ich im in ist ja jetzt "
        "mit nach nun sie sind und vom von war wie wird wurde wurden zu zum zur"
    )
)
"""Words that introduce a repeated request. They add nothing to it."""
_SIGNS = {"removed": "-", "added": "+"}


@dataclass(frozen=True)
class PersonRequest:
    """Request `number`: what a person said when they rejected a result, and what that result was.

    `since` names the rejected attempt. `paths`: what that one or the one that is judged has written; `before` holds
    them as they were then, as far as they were there, and `findings` what was found then.
    """

    number: int
    words: str
    since: str
    paths: Sequence[str]
    before: Mapping[str, bytes]
    findings: str

    @property
    def label(self) -> str:
        return f"R{self.number}"


@dataclass(frozen=True)
class _ChangedText:
    """A text of the result, as it was when the request was made and as it is now."""

    name: str
    old: str
    new: str
    budget: DiffBudget

    @cached_property
    def lines(self) -> Sequence[tuple[str, str]]:
        """Each line that was removed (`-`) or added (`+`), in order."""
        return [(_SIGNS[kind], line) for kind, line in changed_lines(self.old, self.new, self.budget)]

    def only(self, sign: str) -> str:
        return "\n".join(line for kind, line in self.lines if kind == sign)


@dataclass(frozen=True)
class ResultChange:
    """What differs between the result that was rejected and the one that is judged now, of which these are the files
    and the findings. `asked`: the words of all requests that are judged with this one, since any may be written down.
    """

    request: PersonRequest
    files: Mapping[str, bytes]
    findings: str
    asked: str = ""

    @cached_property
    def texts(self) -> Sequence[_ChangedText]:
        """All texts that can be compared; empty if they are too long."""
        budget = DiffBudget()
        found = [_ChangedText(OUTPUT, self.request.findings, self.findings, budget)]
        left = COMPARED_CHARS
        for path in self.request.paths:
            found.append(_ChangedText(path, _text(self.request.before, path), _text(self.files, path), budget))
            left -= len(found[-1].old) + len(found[-1].new)
            if left < 0:
                return ()
        return found

    @cached_property
    def changed(self) -> Sequence[_ChangedText]:
        return [text for text in self.texts if text.old != text.new]

    @cached_property
    def diff(self) -> str:
        """The removed and added lines, for a verifier."""
        parts = []
        for text in self.changed:
            parts += [f"--- {text.name}, {self.request.since}", f"+++ {text.name}, now"]
            parts += [sign + line for sign, line in text.lines]
        return beginning_of("\n".join(parts) or "(nothing has changed)", DIFF_CHARS)

    @cached_property
    def _before(self) -> str:
        return "\n".join(one_spaced(text.old) for text in self.texts)

    @cached_property
    def _now(self) -> str:
        return "\n".join(one_spaced(text.new) for text in self.texts)

    @property
    def pasted(self) -> bool:
        """Whether the only change is that this request, or another one next to it, was written into the result."""
        compared = [text for text in self.changed if text.name != OUTPUT] or self.changed
        old, new = Counter[str](), Counter[str]()
        for text in compared:
            old.update(_tokens(text.old))
            new.update(_tokens(text.new))
        added = " ".join(new - old)
        wanted = {word for word in _tokens(self.request.words) if word not in _FILLER}
        whole = bool(wanted) and wanted <= set(_tokens(added))
        return whole and not old - new and is_own_words(added, f"{self.request.words}\n{self.asked}")

    def proof(self, given: QuotedEvidence) -> Evidence:
        """The quote looked up; verified if it shows that something has changed, and is more than the request (T7).

        `weak` where nothing in it is what was asked for: any line that is new would do; or as the quote is.
        """
        found = self._look_up(given)
        if not found.verified:
            return found
        weak = found.weak or unrelated_to_request(self.request.words, found.quote)
        return found.model_copy(update={"provenance": Provenance.MADE, "weak": weak})

    def _look_up(self, given: QuotedEvidence) -> Evidence:
        if not self.texts:
            return unverified(given, "The results are too long to be compared")
        if given.source.startswith(PERSON):
            return unverified(given, f"{quoted(given.quote)} is what was asked for, not that it was done")
        if given.source.startswith(DIFF):
            return self._in_diff(given)
        sources = {text.name: text.new.encode() for text in self.changed}
        sources |= {RESULT + path: data for path, data in sources.items() if path != OUTPUT}
        if given.source not in sources:
            return unverified(given, f"{given.source} is nothing that has changed since {self.request.since}")
        return self._unless_old(resolve(given, sources), given.quote)

    def _in_diff(self, given: QuotedEvidence) -> Evidence:
        """A removed line that no longer occurs proves a change by itself, and so does an added line or file."""
        for quote in _quotes(given.quote, "-"):
            found = _resolved(given, quote, "\n".join(text.only("-") for text in self.changed))
            if found.verified and not contains_text(self._now, quote):
                sentence = f"{quoted(quote)} stood in {self.request.since} and is gone"
                return found.model_copy(update={"quote": quote, "sentence": sentence, "start": 0, "end": 0, "line": 0})
        for quote in _quotes(given.quote, "+"):
            found = _resolved(given, quote, "\n".join(text.only("+") for text in self.changed))
            if found.verified:
                sentence = f"{quoted(quote)} is new since {self.request.since}"
                plain = {"quote": quote, "sentence": sentence, "start": 0, "end": 0, "line": 0}
                return self._unless_old(found.model_copy(update=plain), quote)
        return unverified(given, f"{quoted(given.quote)} is neither a line removed nor a line added in {DIFF}")

    def _unless_old(self, found: Evidence, quote: str) -> Evidence:
        if not found.verified:
            return found
        if contains_text(self._before, quote):
            sentence = f"{quoted(quote)} stood in {self.request.since} already, which was rejected"
        elif self._is_only_the_request(quote):
            sentence = f"{quoted(quote)} is the request itself; it is not met by being quoted"
        else:
            return found
        return found.model_copy(update={"verified": False, "sentence": sentence})

    def _is_only_the_request(self, quote: str) -> bool:
        """Whether a quote has nothing but the request's own words and text that was there before."""
        words = _spaced(self.request.words)
        parts = [piece for part in _parts(quote) for piece in _spaced(part).split(words)]
        foreign = [part for part in parts if not is_own_words(part, self.request.words)]
        before = _spaced(self._before)
        return len(foreign) < len(parts) and all(_spaced(part) in before for part in foreign)


def is_own_words(text: str, request: str) -> bool:
    """Whether the text says nothing beyond the request: its words, forms of them, and phrases around them."""
    own = set(_tokens(request))
    return all(word in own or word in _FILLER or any(_is_form(word, other) for other in own) for word in _tokens(text))


def judged(change: ResultChange, given: CriterionAnswer, min_confidence: float) -> RequestResult:
    """The status that follows from the answer of a verifier. A pass without proof is neither met nor failed: the person
    decides.
    """
    evidence = [change.proof(quote) for quote in given.evidence]
    proved = given.passed and any(item.verified for item in evidence)
    sure = given.confidence >= min_confidence
    feedback = given.feedback
    if given.passed and not proved:
        said = f" The verifier said: {given.feedback.strip()}" if given.feedback.strip() else ""
        feedback = f"Not provable: no quote shows it in what has changed since.{said}"
    elif proved and not sure:
        feedback = f"The verifier was only {given.confidence:.0%} sure; this run asks for {min_confidence:.0%}."
    return RequestResult(
        number=change.request.number,
        text=change.request.words,
        status="not_met" if not given.passed else "met" if proved and sure else "not_provable",
        evidence=evidence,
        feedback=feedback,
    )


def pasted(changes: Sequence[ResultChange]) -> list[RequestResult]:
    """The requests that were answered by writing them down, each as not met."""
    return [
        RequestResult(
            number=change.request.number,
            text=change.request.words,
            status="not_met",
            feedback=f"All that was added is the request itself, {quoted(change.request.words)}. "
            "It is not met by being written down: do what it asks for.",
        )
        for change in changes
        if change.pasted
    ]


def settled(first: RequestResult, second: RequestResult) -> RequestResult:
    """When asked again, a verifier may give better proof or withdraw a pass. It cannot turn a failure into a pass."""
    if first.status == "not_met":
        return first
    better = first.status == "not_provable" or (first.weak and second.status == "met" and not second.weak)
    return second if better or second.status == "not_met" else first


def request_parts(persons: Mapping[int, str], changes: Sequence[ResultChange]) -> Iterator[str]:
    """The words of people, and what changed since then, as parts of a question."""
    for number, words in persons.items():
        yield delimited("person", beginning_of(words, WORDS_CHARS), f"{PERSON}{number}")
    by_diff: dict[str, list[str]] = {}
    for change in changes:
        by_diff.setdefault(change.diff, []).append(change.request.label)
    for diff, labels in by_diff.items():
        yield delimited("diff", diff, f"{DIFF} for {', '.join(labels)}")


def request_line(change: ResultChange) -> str:
    """The line of a request among the criteria."""
    return f"{change.request.label}: What {PERSON}{change.request.number} asks for has been done since."


def _parts(quote: str) -> Iterator[str]:
    """The parts of its sentences, each line separately."""
    parts = filter(None, (part for line in quote.split("\n") for part in parts_in(line)))
    yield from islice(parts, MAX_PARTS)
    if rest := " ".join(parts):
        yield rest


def _text(files: Mapping[str, bytes], path: str) -> str:
    """The text of a file; empty if it is no text or does not exist."""
    return (text_of(files[path]) or "") if path in files else ""


def _resolved(given: QuotedEvidence, quote: str, text: str) -> Evidence:
    if not quote.strip():
        return unverified(given, "")
    return resolve(QuotedEvidence(source=DIFF, quote=quote), {DIFF: text.encode()})


def _quotes(quote: str, sign: str) -> tuple[str, str]:
    """A quote as it is, and without the sign of a difference, the more likely one first."""
    signed = (line.strip()[1:] for line in quote.splitlines() if line.strip().startswith(sign))
    quotes = quote, "\n".join(signed).strip()
    return quotes[::-1] if quote.strip()[:1] == sign and not quote.strip()[1:2].isspace() else quotes


def _tokens(text: str) -> list[str]:
    return words_in(caseless(text))


def _spaced(text: str) -> str:
    """The words alone, each between spaces."""
    return f" {' '.join(_tokens(text))} "


def _is_form(word: str, other: str) -> bool:
    """Whether two words differ only in their last letters, as “named” and “naming” do. Figures never do."""
    shared = min(len(word), len(other)) - 1
    return shared >= 3 and word[:shared] == other[:shared] and not _FIGURE.search(word)
