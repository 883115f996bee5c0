"""The pages of the product, each with the run or the state that shows it: for tests of all pages and their pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from runs.enums import GateKind
from tests.browser.site import Site

GATES: Mapping[GateKind, Sequence[str]] = {
    GateKind.PLAN: [
        "plan of 4",
        "plan of 40",
        "plan without a file",
        "plan with an agent",
        "plan with a changed agent",
        "second plan",
        "kept",
    ],
    GateKind.START: ["start"],
    GateKind.STEP: ["result of 4", "result of 40", "rows", "cited"],
    GateKind.EXHAUSTED: ["exhausted", "blocked"],
    GateKind.ERROR: ["error", "step error"],
    GateKind.BUDGET: ["budget", "time limit"],
    GateKind.QUESTION: ["question"],
    GateKind.TOOL: ["mail", "event", "ticket", "request", "file", "message", "payment", "other call", "long call"],
}
"""The states of runs, as tests/browser/writes.py has them, that wait at a gate of this kind."""
WALKS = {
    "gates": [f"/runs/{{{first}}}/" for first, *_ in GATES.values()],
    "other states at gates": [f"/runs/{{{state}}}/" for _, *others in GATES.values() for state in others],
    "lists and forms": [
        "/",
        "/?show=all",
        "/?show=all&q=review&state=partial",
        "/?q=nowhere",
        "/metrics/",
        "/access-tokens/",
        "/account/time-zone/",
        "/account/methods/",
        "/account/methods/webauthn/add/",
        "/account/methods/totp/activate/",
        "/account/methods/recovery-codes/generate/",
        "/account/password/new/",
        "/account/sessions/",
        "/account/notices/",
        "/sign-in/again/",
        "/help/",
        "/help/glossary/",
        "/api/docs/",
        "/runs/new/",
        "/templates/",
        "/templates/document-review/",
        "/templates/{template}/",
        "/templates/{template}/delete/",
        "/runs/{sample}/template/",
        "/runs/{sample}/evaluation-task/",
        "/runs/{partial}/overrulings/{overruling}/case/",
        "/runs/{sample}/again/",
        "/runs/{sample}/again/with/",
        "/runs/{sample}/manage/",
        "/runs/{sample}/delete/",
        "/runs/{sample}/people/",
        "/runs/{running}/",  # one of many, which fill the lists
    ],
    "runs": [
        "/runs/{partial}/",
        "/runs/{stopped}/",
        "/runs/{sample}/",
        "/runs/{sample}/?view=timeline",
        "/runs/{sample}/?view=table",
        "/runs/{kept}/?view=timeline",
        "/runs/{partial}/steps/",
        "/runs/{kept}/steps/",
        "/runs/{partial}/steps/{step}/",
        "/runs/{sample}/history/",
        "/runs/{partial}/history/?show=calls",
        "/runs/{partial}/audit/",
        "/runs/{sample}/cost/",
    ],
    "plans": [
        "/runs/{plan with an agent}/plan/",
        "/runs/{plan with an agent}/plan/edit/?step=0",
        "/runs/{plan with a changed agent}/plan/",
        "/runs/{second plan}/plan/",
        "/runs/{sample}/plan/",
    ],
    "files and reports": [
        "/runs/{sample}/files/",
        "/runs/{sample}/files/?from=0",
        "/runs/{sample}/files/review/findings.md",
        "/runs/{sample}/files/contracts/Service agreement.docx?at=2.2",
        "/runs/{sample}/files/contracts/data-processing-agreement.pdf?page=2",
        "/runs/{files of all kinds}/files/table.csv",
        "/runs/{files of all kinds}/files/data.json",
        "/runs/{files of all kinds}/files/picture.png",
        "/runs/{files of all kinds}/files/notes.md",
        "/runs/{files of all kinds}/files/notes.md?view=text",
        "/runs/{files of all kinds}/files/script.py",
        "/runs/{files of all kinds}/files/latin.bin",
        "/runs/{sample}/texts/answer/",
        "/runs/{partial}/report/",
        "/runs/{sample}/report/",
        "/runs/{sample}/report/pdf/",
        "/runs/{sample}/report/docx/",
    ],
}
"""Where a name in braces stands for the run in this state, or for something else that `Made` has."""
FOR_ADMINISTRATORS = [
    "/people/",
    "/status/",
    "/status/servers/",
    "/status/notices/",
    "/status/calibrations/",
    "/status/calibrations/{calibration}/",
    "/audit/",
    "/evaluations/",
    "/evaluations/{evaluation}/",
    "/agents/",
    "/agents/new/",
    "/agents/new/?sample",
    "/agents/letter-writer/",
    "/agents/letter-writer/delete/",
]
FOR_STRANGERS = ["/sign-in/", "{link}"]
NO_PAGES = {
    "runs/drafts/<uuid:draft>/": "the list of its files, for a script",
    "runs/<int:run_id>/plans/<int:version>.json": "a file",
    "audit.<audit_suffix:suffix>": "a file",
    "runs/<int:run_id>/audit.<audit_suffix:suffix>": "a file",
    "runs/<int:run_id>/report.<report_format:report_format>": "files, which the stories of the report open",
    "runs/<int:run_id>/files.zip": "a file",
    "runs/<int:run_id>/history/calls/<int:work_id>/": "a part of the history",
    "runs/<int:run_id>/gates/<int:gate_id>/<slug:part>/": "a part of a gate",
    "runs/new/estimate/": "a part of the form",
    "next/": "leads to a run",
    "api/openapi.json": "for programs",
    "account/notices/new/": "what is new, for a script",
    "account/inactive/": "for people who are deactivated",
    "account/provider/connect/": "leads to the list",
    "account/provider/disconnect/": "leads to the list",
    "sign-in/provider/callback/": "only with a provider: see test_identity_provider.py",
    "people/<int:person_id>/": "leads to the list",
    "people/groups/": "leads to the list",
    "healthz": "for machines",
    "readyz": "for machines",
    "metricsz": "for machines",
}


class Made(dict[str, str]):
    """What belongs where addresses have a name in braces: each is made when it is first asked for."""

    def __init__(self, site: Site, owner: str) -> None:
        super().__init__()
        self._site, self._owner = site, owner

    def __missing__(self, name: str) -> str:
        self[name] = str(self._make(name))
        return self[name]

    def _make(self, name: str) -> object:
        match name:
            case "sample":
                return self._site.write("sample", self._owner)
            case "running":
                return self._site.write("crowd", self._owner, 60, 5, 4)
            case "template":
                return self._site.write("template", self._owner, int(self["sample"]), "Notes")
            case "step":
                return self._site.write("step", int(self["partial"]), "review")
            case "calibration":
                return self._site.write("calibration")
            case "overruling":
                return self._site.write("overruling", int(self["partial"]))
            case "evaluation":
                return self._site.write("evaluation", int(self["sample"]))
            case "link":
                return self._site.manage("people", "link", self._owner, "--base", "").strip()
            case state:
                return self._site.write("runs", self._owner, state)[0]


def filled(address: str, made: Mapping[str, str]) -> str:
    return re.sub("{([^}]*)}", lambda name: made[name[1]], address)
