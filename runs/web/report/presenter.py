"""Where the citations of a report lead on its page: to the highlighted place in the product."""

from runs.contracts.ports import FileInfo
from runs.evidence.citations.citation import Citation
from runs.evidence.results import Evidence
from runs.models import Attempt, Step
from runs.web.site.addresses import address_of, citation_address, evidence_address, file_address


class InProduct:
    """`runs.reports.places.CitedPlaces` of the page."""

    def __init__(self, run_id: int) -> None:
        self._run_id = run_id

    def citation(self, one: Citation) -> str:
        return citation_address(self._run_id, one)

    def broken(self, one: Citation) -> str:
        return citation_address(self._run_id, one)

    def evidence(self, proof: Evidence, attempt: Attempt | None) -> str:
        found = evidence_address(self._run_id, proof, attempt)
        return "#answer" if found == "#output" else found

    def file(self, path: str, info: FileInfo) -> str:
        return file_address(self._run_id, path, info.sha256)

    def step(self, step: Step) -> str:
        return address_of(step)

    def attempt(self, attempt: Attempt) -> str:
        return address_of(attempt)
