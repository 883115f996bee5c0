"""Files that a plan or an executor names and that are not there."""

import re
from collections.abc import Collection, Iterable, Iterator

from runs.pev.contracts import PlanStep
from runs.text.paths import base_name, folded, is_pattern

_SUFFIXES = (
    "csv docx? eml html? jpe?g json md msg od[pst] pdf png pptx? rtf tiff? tsv txt xlsx? xml ya?ml zip"  # as people say
)
_NAME = rf"\.(?:{'|'.join(_SUFFIXES.split())})"
_NAMED = re.compile(
    rf"[“\"'‘`]([^“”\"'‘’`\n]{{1,150}}?{_NAME})[”\"'’`]|(?<![\w./:-])([\w][\w./-]{{0,150}}?{_NAME})(?![\w/-])",
    re.IGNORECASE,
)
"""The name of a file in a sentence: in quotation marks, where it may have spaces, or by itself."""
MAX_TEXT = 20_000
"""Characters of a text in which names are looked for."""


def missing_inputs(steps: Iterable[PlanStep], there: Collection[str]) -> list[str]:
    """The files that steps of a plan name as input and that are not `there`, each once.

    Folders and patterns that match nothing are not among them, because no single file is meant.
    """
    steps = list(steps)
    made = [path for step in steps for path in step.outputs]
    named = (path for step in steps for path in step.inputs if not is_pattern(path) and "." in base_name(path))
    return list(_not_there(named, [*there, *made]))


def missing_in(text: str, there: Collection[str]) -> list[str]:
    """The files that a text names and that are not `there`, each once."""
    return list(_not_there((quoted or bare for quoted, bare in _NAMED.findall(text[:MAX_TEXT])), there))


def _not_there(named: Iterable[str], there: Collection[str]) -> Iterator[str]:
    """A name without a folder means a file of this name in any folder."""
    known = {folded(path) for path in there} | {base_name(path) for path in there}
    for name in dict.fromkeys(path.strip().removeprefix("./") for path in named):
        if folded(name) not in known:
            known.add(folded(name))
            yield name
