"""What may be quoted in a run, from its raw rows: bytes by name, whose words they are, what executors were shown."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.files.storage import storages

from runs.models import Attempt, Run, ToolCall, Tree

type Row = Mapping[str, Any]
WEB = {"fetch_page", "web_fetch", "web_search"}
OUTSIDE = {"given", "observed", "person"}


@dataclass(frozen=True)
class Sources:
    """Digests of files by path: `files` as they are now, `given` as they were handed in; `said` by `@output`,
    `@tool-N` and `@person-N`.

    `own`: what the executor had put into each tool, which cannot come out of it as evidence. `shown`: of each tool's
    result, which characters show which bytes. `read`: the given files of which every line was shown. `looked`: what the
    tools were asked for; `tools`: their names.
    """

    files: Mapping[str, str]
    given: Mapping[str, str]
    said: Mapping[str, str]
    own: Mapping[str, str] = field(default_factory=dict)
    shown: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    read: Collection[str] = ()
    looked: Mapping[str, Row] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)

    def digest(self, name: str) -> str:
        """Of the bytes behind a file's name: as it was given, unless the name says what the run has made of it."""
        return self.given.get(name) or self.files.get(name.removeprefix("@result/"), "")

    def data(self, name: str) -> bytes | None:
        if name in self.said:
            return self.said[name].encode()
        digest = self.digest(name)
        return blob(digest) if digest else None

    def text(self, name: str) -> str | None:
        data = self.data(name)
        return None if data is None else decoded(data)

    def provenance(self, name: str, quote: str) -> str:
        """Whose words these are: a file counts as given by the name that it was given by, a tool's result where it
        shows bytes that were handed in.
        """
        if name.startswith("@person-"):
            return "person"
        if name in self.said:
            shows = (part for part in self.shown.get(name, ()) if self.given.get(part[0]) == part[1])
            seen = any(folded(quote) in folded(self.said[name][part[2] : part[3]]) for part in shows)
            seen = seen or self.nowhere(name) or self.from_the_web(name, quote) or self.calculated(name, quote)
            return "observed" if seen else "made"
        return "given" if name in self.given else "made"

    def from_the_web(self, name: str, quote: str) -> bool:
        """Whether it was found or stands on a page that was fetched, below the line that says where."""
        return self.tools.get(name) in WEB and folded(quote) in folded(self.said[name].partition("\n")[2])

    def calculated(self, name: str, quote: str) -> bool:
        """Whether it says what a calculation comes to all of whose figures stand on such pages."""
        if self.tools.get(name) != "calculate" or folded(quote) not in folded(self.said[name].partition("\n")[0]):
            return False
        pages = [text.partition("\n")[2] for tool, text in self.said.items() if self.tools.get(tool) in WEB]
        figures = re.findall(r"\d+(?:\.\d+)?", self.looked[name]["expression"])
        return all(any(figure in page.replace(",", "") for page in pages) for figure in figures)

    def nowhere(self, name: str) -> bool:
        """Whether a tool found nothing, and nothing of it is in what was handed in."""
        asked = self.looked.get(name, {})
        if self.said[name].startswith("No path of"):
            return not any(fnmatch.fnmatchcase(path, asked["pattern"]) for path in self.given)
        if self.said[name].startswith("No line matches"):
            within = [path for path in self.given if path.startswith(asked.get("prefix", ""))]
            return not any(asked["pattern"].lower() in (self.text(path) or "").lower() for path in within)
        return False


def sources_of(attempt: Attempt) -> Sources:
    calls = ToolCall.objects.filter(attempt=attempt, generation=attempt.work.generation).order_by("ordinal")
    named = {f"@tool-{number}": call for number, call in enumerate(calls, 1)}
    assert attempt.output is not None
    return Sources(
        files_in(attempt.base, attempt.overlay),
        files_in(attempt.step.plan.run.inputs),
        {name: call.result for name, call in named.items()}
        | {"@output": attempt.output.findings, **said_by_people(attempt.step.plan.run)},
        {name: json.dumps(call.arguments, ensure_ascii=False) for name, call in named.items()},
        {name: [tuple(part) for part in call.shown] for name, call in named.items()},
        read_whole(attempt.step.plan.run),
        {name: call.arguments for name, call in named.items()},
        {name: call.name for name, call in named.items()},
    )


def final_sources(run: Run) -> Sources:
    given, named = files_in(run.inputs), calls_of_steps(run)
    return Sources(
        files_in(run.head),
        given,
        {"@output": run.answer, **said_by_people(run), **{name: call.result for name, call in named.items()}},
        {name: json.dumps(call.arguments, ensure_ascii=False) for name, call in named.items()},
        {name: [tuple(part) for part in call.shown] for name, call in named.items()},
        read_whole(run),
        {name: call.arguments for name, call in named.items()},
        {name: call.name for name, call in named.items()},
    )


def calls_of_steps(run: Run) -> dict[str, ToolCall]:
    """Those of attempts that passed, by the name under which a final verdict may quote them."""
    calls = ToolCall.objects.filter(run=run, attempt__status="passed").select_related("attempt__step")
    return {f"@step-{call.attempt.step.key}/tool-{call.ordinal}": call for call in calls if call.attempt}


def said_by_people(run: Run) -> dict[str, str]:
    return {f"@person-{gate.request}": gate.reason for gate in run.gates.filter(request__isnull=False)}


def lines_shown(run: Run) -> dict[str, set[int]]:
    """By digest, the lines that executors of the run were shown, or those whose results it keeps; and 0 for a piece."""
    attempts = Attempt.objects.filter(step__plan__run=run)
    sources = {attempt.reused_from_id or attempt.pk for attempt in attempts}
    found: dict[str, set[int]] = {}
    for call in ToolCall.objects.filter(attempt__in=sources):
        for _, digest, _, _, first, last, lines, _ in call.shown:
            if lines:
                found.setdefault(digest, {0}).update(range(first, last + 1))
    return found


def read_whole(run: Run) -> set[str]:
    seen = lines_shown(run)
    return {
        path
        for path, digest in files_in(run.inputs).items()
        if (text := decoded(blob(digest))) is not None
        and set(range(1, len(text.splitlines()) + 1)) <= seen.get(digest, set())
    }


def blob(sha256: str) -> bytes:
    with storages["blobs"].open(f"{sha256[:2]}/{sha256[2:]}") as file:
        return bytes(file.read())


def decoded(data: bytes) -> str | None:
    """The text of a file, None where it is none. Of other encodings only those that a case uses."""
    if b"\0" in data or data.startswith(b"%PDF"):
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")


def files_in(tree: Tree, changes: Row | None = None) -> dict[str, str]:
    """Path to digest."""
    merged = {**(tree.root.changes if tree.root else {}), **tree.changes, **(changes or {})}
    return {path: entry[0] for path, entry in merged.items() if entry}


def folded(text: str) -> str:
    return " ".join(text.split())
