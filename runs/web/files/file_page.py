"""The page of one file of a run: shown by its kind, at a version and a place, or compared with another version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.utils.safestring import SafeString

from runs.contracts.ports import FileInfo
from runs.documents.formats import FORMATS
from runs.documents.places.document import Document
from runs.enums import StepStatus
from runs.evidence.citations.citing import is_markdown, may_cite
from runs.models import Attempt, Run
from runs.readmodel.csv_formulas import Formulas, formulas_in
from runs.readmodel.run_files import FileDiff, FileVersion, file_diff, versions_of
from runs.readmodel.shown_citations import RunCitations, document_of, finished_in, noted_by
from runs.store import blobs, renditions, trees
from runs.store.diagram_pictures import is_diagram, source_of
from runs.store.renditions import Readings
from runs.text.csv_tables import is_csv
from runs.text.diff import DiffBudget
from runs.text.paths import mail_of
from runs.web.files.csv_sheet import Sheet, sheet
from runs.web.files.document_blocks import Blocks, blocks_around
from runs.web.files.excerpt import WHOLE_BYTES, Excerpt, coloured, excerpt
from runs.web.files.folding import JsonFold, folded, is_json
from runs.web.files.page_images import Leaf, leaf_of
from runs.web.files.place import Pointed, find_place
from runs.web.files.sheet_grid import Grid, grid_around
from runs.web.markup.diagrams import drawn, figure, sources_in
from runs.web.markup.prose import cited, markdown
from runs.web.site.addresses import Place, file_address

HEAD_BYTES = 16
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def image_type(head: bytes) -> str:
    """The media type of a PNG, JPEG, GIF or WebP file with these first bytes; empty for anything else. SVG does not
    count as a picture: it is a document that can run scripts and load other files.
    """
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES.items() if head.startswith(signature)), "")


TEXT, RENDERED, TABLE, FOLDED, LAID_OUT, DIAGRAM = "text", "rendered", "table", "folded", "document", "diagram"
_TITLES = {
    RENDERED: "Rendered",
    DIAGRAM: "Diagram",
    TABLE: "Table",
    FOLDED: "Folded",
    LAID_OUT: "Document",
    TEXT: "Text",
}


@dataclass(frozen=True)
class Version:
    """One content of a path in a run. `newest`: what the workspace holds now; `given`: what was submitted. `attempt`
    wrote it otherwise, the latest that did; `waits` where a person is asked about that one.
    """

    info: FileInfo
    newest: bool
    given: bool
    attempt: Attempt | None = None
    waits: bool = False

    @property
    def said(self) -> str:
        """The version in words."""
        if self.given:
            return "as submitted"
        if self.newest:
            return "written by the run"
        if self.waits and self.attempt:
            return f"attempt {self.attempt.number}, not accepted yet"
        return "an earlier version"


@dataclass(frozen=True)
class Asked:
    """The parameters of the address: a place, a view, the first row of a table, the number of a page."""

    place: Place = field(default_factory=Place)
    view: str = ""
    row: int = 1
    page: int = 0


@dataclass(frozen=True, eq=False)
class FilePage:
    """Raises FileNotFoundError, where a content is read, when the store has lost it."""

    run: Run
    path: str
    version: Version
    asked: Asked = field(default_factory=Asked)
    against: FileInfo | None = None

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def sha256(self) -> str:
        return self.version.info.sha256

    @cached_property
    def text(self) -> str | None:
        return trees.read_text(self.sha256)

    @cached_property
    def pointed(self) -> Pointed:
        """The position of the requested place."""
        return find_place(self.asked.place, self.text, self.document) if self.text is not None else Pointed(0, 0)

    @cached_property
    def document(self) -> Document | None:
        return renditions.document_of(self.sha256)

    @property
    def place_words(self) -> str:
        """The name of the place for people; empty for none, and for texts that only have lines."""
        return self.document.place_name(*self._hit).words if self.document and self.pointed.end else ""

    @property
    def panel_grid(self) -> Grid | None:
        return self.grid(in_panel=True)

    @property
    def panel_blocks(self) -> Blocks | None:
        return self.blocks(in_panel=True)

    @property
    def _hit(self) -> tuple[int, int]:
        return self.pointed.start, self.pointed.end

    @cached_property
    def leaf(self) -> Leaf | None:
        """The requested page of a document that has pages."""
        return leaf_of(self.document, self.sha256, self._hit, self.asked.page) if self.document else None

    def grid(self, *, in_panel: bool = False) -> Grid | None:
        return grid_around(self.document, self._hit, in_panel=in_panel) if self.document else None

    def blocks(self, *, in_panel: bool = False) -> Blocks | None:
        """The paragraphs of a document that has neither pages nor cells."""
        if self.document is None or self.leaf or self.grid():
            return None
        return blocks_around(self.document, self._hit, in_panel=in_panel)

    @cached_property
    def image(self) -> str:
        """The media type of a picture; empty for anything else."""
        with blobs.opened(self.sha256) as blob:
            return image_type(blob.read(HEAD_BYTES))

    @cached_property
    def diff(self) -> FileDiff | None:
        """The difference from the version that the address names."""
        return file_diff(self.path, self.against, self.version.info, DiffBudget()) if self.against else None

    @cached_property
    def views(self) -> Sequence[tuple[str, str]]:
        """The views by name and title. The first one is used if no place is marked."""
        if self.text is None:
            return ()
        own = LAID_OUT if self.document else RENDERED if self._is_rendered else TABLE if self.sheet else ""
        own = own or (DIAGRAM if self._is_diagram else "")
        own = own or (FOLDED if self.outline else "")
        return [(name, _TITLES[name]) for name in (own, TEXT) if name]

    @property
    def view(self) -> str:
        names = [name for name, _ in self.views]
        if self.asked.view in names:
            return self.asked.view
        return TEXT if not names or (self.asked.place and names[0] != LAID_OUT) else names[0]

    @property
    def _is_rendered(self) -> bool:
        return is_markdown(self.path) and not self.document and self.version.info.size <= WHOLE_BYTES

    @property
    def address(self) -> str:
        """The address of this version."""
        return file_address(self.run.pk, self.path, self.sha256)

    @property
    def diagram(self) -> SafeString:
        """The whole file as one diagram."""
        return figure(source_of(self.text or ""), self.address)

    @property
    def _is_diagram(self) -> bool:
        return is_diagram(self.path) and not self.document and self.version.info.size <= WHOLE_BYTES

    @cached_property
    def rendered(self) -> SafeString:
        """The Markdown as HTML. What the run has written has its citations as links."""
        html = markdown(self.text) if self.version.given else cited(self.text, self.run)
        return drawn(html, self.address)

    @property
    def diagrams(self) -> Sequence[str]:
        """The sources of the diagrams on its page."""
        if self.text is None or not (self._is_diagram or self._is_rendered):
            return ()
        return [source_of(self.text)] if self._is_diagram else sources_in(self.text)

    @cached_property
    def sheet(self) -> Sheet | None:
        if self.text is None or self.document or not is_csv(self.path):
            return None
        line = self.text.count("\n", 0, self.pointed.start) + 1 if self.pointed.end else 0
        return sheet(self.text, self.asked.row, line)

    @cached_property
    def outline(self) -> Sequence[JsonFold] | None:
        return folded(self.text) if self.text is not None and is_json(self.path) else None

    @cached_property
    def excerpt(self) -> Excerpt | None:
        return self.lines(in_panel=False)

    def lines(self, *, in_panel: bool) -> Excerpt | None:
        """The text in numbered lines. A panel shows fewer."""
        if self.text is None:
            return None
        shown = excerpt(self.text, self.pointed.start, self.pointed.end, in_panel=in_panel)
        return coloured(shown, self.text, self.path, self.sha256)

    @property
    def not_laid_out(self) -> str:
        """Why a table or JSON is shown as text, as a sentence; empty if it is not."""
        if self.text and is_csv(self.path) and not self.sheet:
            return "This cannot be shown as a table, so it is shown as text."
        if self.text and is_json(self.path) and not self.outline:
            return "This is not valid JSON, or is too large or nested too deeply to be folded. It is shown as text."
        return ""

    @cached_property
    def _known(self) -> Readings:
        return renditions.readings([self.sha256])

    @property
    def extent(self) -> str:
        """The length of a document, such as "12 pages"; empty for others."""
        return self._known.extents.get(self.sha256, "")

    @property
    def notes(self) -> Sequence[str]:
        """Sentences about parts that could not be read or are doubtful."""
        return self._known.notes.get(self.sha256, ())

    @property
    def cautions(self) -> Sequence[str]:
        """Sentences about what to know before relying on the text."""
        return self._known.cautions.get(self.sha256, ())

    @property
    def is_guessed(self) -> bool:
        """Whether its encoding was guessed and others are about as likely."""
        return self.version.given and self._known.has_guessed(self.sha256)

    @cached_property
    def read_as(self) -> str:
        """How the bytes were read, if that is not obvious: the encoding of a text, or that HTML is shown as source."""
        form = FORMATS.get(self._known.formats.get(self.sha256, ""))
        if form and form.is_text:
            return f"{form.title}, without its tags"
        codec = renditions.codec_of(self.sha256)
        is_source = self.text is not None and not self.document and self.path.lower().endswith((".html", ".htm"))
        return ", ".join(filter(None, ["source, with its tags" if is_source else "", codec]))

    @cached_property
    def problem(self) -> str:
        """Why it cannot be read, as a clause that follows its name."""
        return "" if self.text is not None else self._known.problems.get(self.sha256, "")

    @cached_property
    def formulas(self) -> Formulas:
        return formulas_in(self.path, self.text or "")

    @cached_property
    def citations(self) -> RunCitations | None:
        """The citations of a Markdown file, a Word or a PDF document that the run made."""
        noted = self.document if may_cite(self.path) else None
        if not (self._is_rendered or noted) or self.text is None or self.version.given:
            return None
        plan = self.run.plans.last()
        finished = finished_in(step.spec for step in plan.steps.all()) if plan else ()
        if noted:
            return RunCitations((noted_by(self.run, self.path, self.sha256, noted, finished),))
        return RunCitations((document_of(self.run, self.path, self.text, finished),))

    @property
    def mail(self) -> str:
        """The path of the mail that it is attached to, if any."""
        mail = mail_of(self.path)
        return mail if self.version.given and mail in trees.files_of(self.run.inputs) else ""

    @cached_property
    def attached(self) -> Sequence[tuple[str, str]]:
        """The path and the name of each file that is attached to it, if it is a mail."""
        given = trees.files_of(self.run.inputs) if self.version.given else ()
        return [(path, path.rpartition("/")[2]) for path in given if mail_of(path) == self.path]

    @cached_property
    def versions(self) -> Sequence[FileVersion]:
        """Every version, the newest first."""
        return versions_of(self.run, self.path)[::-1]

    def for_page(self) -> FilePage:
        """Itself, after it has read what its page shows of the database, because templates read nothing."""
        _ = (self.extent, self.read_as, self.document, self.mail, self.attached, self.versions)
        if not self.diff:
            _ = (self.is_guessed, self.citations)
            _ = self.leaf if self.view == LAID_OUT else self.rendered if self.view == RENDERED else None
        return self


def version_of(run: Run, path: str, sha256: str = "") -> Version | None:
    """The version of this path with this hash, if the run ever had it; without a hash the newest one."""
    now, given = trees.files_of(run.head).get(path), trees.files_of(run.inputs).get(path)
    info = now or given if not sha256 else next((one for one in (now, given) if one and one.sha256 == sha256), None)
    if info:
        return Version(info, newest=info == now, given=info == given)
    every = versions_of(run, path) if sha256 else ()
    found = next((one for one in reversed(every) if one.info and one.info.sha256 == sha256), None)
    if found is None or found.info is None:
        return None
    return Version(found.info, newest=False, given=False, attempt=found.attempt, waits=_waits(found.attempt, every))


def _waits(attempt: Attempt | None, every: Sequence[FileVersion]) -> bool:
    """Whether this attempt waits for a person: it is the last one of a step that waits."""
    if attempt is None or attempt.step.status != StepStatus.WAITING:
        return False
    same = (one.attempt.number for one in every if one.attempt and one.attempt.step_id == attempt.step_id)
    return attempt.number == max(same)
