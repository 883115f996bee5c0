"""What a verification is about: the criteria, the artefacts, and every source that a quote may name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runs.pev.contracts import Criterion, MinBytes, WordCount
from runs.pev.material import Material


@dataclass(frozen=True)
class Case:
    """What is judged. `files` is the whole tree, read lazily; `shown` names those that were made and are judged,
    `given` those they rest on, in an order that the cases of a run have in common.

    `tool_inputs`: all that the executor said to the tool whose result has the same place in `tool_results`.
    `notes`: what the executor wrote beside its findings; the verifier sees it, and no quote may name it.
    `undeclared`: paths that were written although no step of the plan declared them. `own_confidence`: the
    executor's, 0 to 1, of which the run asks for `min_confidence`; of the verifier it asks for
    `min_verifier_confidence`, and of each written document
    `min_document_bytes`, where none of the plan's `size_checks` says how long it is to be.
    """

    subject: str
    request: str
    criteria: Sequence[Criterion]
    expected_outputs: Sequence[str]
    files: Mapping[str, bytes]
    shown: Sequence[str]
    output: str
    tool_results: Sequence[str]
    model: str
    effort: str
    tool_inputs: Sequence[str] = ()
    given: Sequence[str] = ()
    notes: str = ""
    undeclared: Sequence[str] = ()
    own_confidence: float = 1.0
    min_confidence: float = 0.0
    min_verifier_confidence: float = 0.0
    min_document_bytes: int = 0
    size_checks: Sequence[MinBytes | WordCount] = ()

    @property
    def material(self) -> Material:
        """What checks are held against."""
        return Material(self.files)

    def sources(self) -> "Sources":
        return Sources(self)

    def said_to(self, source: str) -> str:
        """What the executor itself put into the tool call whose result this source is; empty for other sources."""
        sent = {f"@tool-{number}": text for number, text in enumerate(self.tool_inputs, 1)}
        return sent.get(source, "")


class Sources(Mapping[str, bytes]):
    """Every source a quote may name: the files, `@output` and `@tool-1` onwards."""

    def __init__(self, case: Case) -> None:
        self._files = case.files
        self._texts = {"@output": case.output.encode()}
        self._texts |= {f"@tool-{n}": text.encode() for n, text in enumerate(case.tool_results, 1)}

    def __getitem__(self, name: str) -> bytes:
        return self._texts[name] if name in self._texts else self._files[name]

    def __iter__(self):  # type: ignore[no-untyped-def]
        yield from self._texts
        yield from self._files

    def __len__(self) -> int:
        return len(self._texts) + len(self._files)
