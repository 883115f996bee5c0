"""Files of a folder whose names cannot be used in a run: finds them, and leaves them out or renames them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from runs.errors import InvalidInput, PathRefused
from runs.management.questions import INDENT, NoTerminal, choose
from runs.submission.intake import Upload
from runs.text.paths import clashes, clean_path, folded, usable_path
from runs.text.sensitive_names import secret_part

LEAVE_OUT, RENAME = "leave-out", "rename"
MAX_SHOWN = 20
"""Names that a sentence or a question lists."""
_CLASH = "some systems take them for the same name, or one is a folder of the other"


@dataclass(frozen=True)
class OddName:
    """A file with an unusable name. `why` is a sentence, `renamed` a usable name, empty if there is none."""

    upload: Upload
    why: str
    renamed: str


def with_usable_names(
    uploads: Sequence[Upload], option: str | None, ask: bool, say: Callable[[str], None]
) -> tuple[list[Upload], list[str]]:
    """The files under names that can be used, and a sentence for each one that is left out.

    `option` says what is done with odd names. If it is None, a person is asked, if `ask` allows that. Raises
    InvalidInput for odd names about which no one has decided.
    """
    odd = odd_names(uploads)
    if not odd:
        return list(uploads), []
    chosen = option or (_ask(odd, say) if ask else "")
    if not chosen:
        why = " ".join(one.why for one in odd[:MAX_SHOWN])
        more = f" And {len(odd) - MAX_SHOWN:,} more." if len(odd) > MAX_SHOWN else ""
        raise InvalidInput(
            f"{why}{more} Say what must be done with such files: --odd-names leave-out, or --odd-names rename, which "
            "gives them other names in the run and leaves your folder as it is."
        )
    renamed = {id(one.upload): one.renamed for one in odd}
    kept = [
        replace(upload, path=path) if (path := renamed.get(id(upload))) else upload
        for upload in uploads
        if id(upload) not in renamed or (chosen == RENAME and renamed[id(upload)])
    ]
    left_out = [one for one in odd if chosen == LEAVE_OUT or not one.renamed]
    if not kept:
        raise InvalidInput(f"No file is left. {left_out[0].why}")
    for one in odd:
        became = "is left out" if one in left_out else f"is “{one.renamed}” in this run"
        say(f"{_quoted(one)} {became}.")
    return kept, [f"{_quoted(one)} was not taken. {one.why}" for one in left_out]


def odd_names(uploads: Sequence[Upload]) -> list[OddName]:
    """The files whose names cannot be used, alone or next to the others. Files with secrets are left out anyway."""
    good: dict[str, Upload] = {}
    problems: list[tuple[Upload, str]] = []
    for upload in uploads:
        if not upload.named and secret_part(upload.path):
            continue
        try:
            path = clean_path(upload.path)
        except PathRefused as error:
            problems.append((upload, str(error)))
            continue
        if path in good:
            problems.append((upload, f"“{path}” is there twice."))
        else:
            good[path] = upload
    for one, other in clashes(good):
        if one in good and other in good:
            problems.append((good.pop(other), f"“{one}” and “{other}” cannot both be there: {_CLASH}."))
    taken, numbers = set(map(folded, good)), Counter[str]()
    return [OddName(upload, why, _free_path(usable_path(upload.path), taken, numbers)) for upload, why in problems]


def _free_path(path: str, taken: set[str], numbers: Counter[str]) -> str:
    """The path, with a number if it is in use. It counts as used from then on."""
    named, free = PurePosixPath(path), path
    while path and folded(free) in taken:
        numbers[path] += 1
        free = str(named.with_name(f"{named.stem} ({numbers[path] + 1}){named.suffix}"))
    taken.add(folded(free))
    return free


def _ask(odd: Sequence[OddName], say: Callable[[str], None]) -> str:
    say("These names cannot be used in a run:")
    for one in odd[:MAX_SHOWN]:
        say(f"{INDENT}{one.why} {f'It would be “{one.renamed}”.' if one.renamed else 'It can only be left out.'}")
    if len(odd) > MAX_SHOWN:
        say(f"{INDENT}and {len(odd) - MAX_SHOWN:,} more")
    answers = {"l": "leave out", "r": "rename", "s": "stop"}
    question = "[l]eave them out, [r]ename them in the run (your folder stays as it is), [s]top? "
    try:
        return {"l": LEAVE_OUT, "r": RENAME}.get(choose(question, answers), "")
    except NoTerminal:
        return ""


def _quoted(one: OddName) -> str:
    return f"“{one.upload.path}”"
