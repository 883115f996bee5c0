"""A person who hands in work and decides, through whichever site answers, while processes die around them."""

from __future__ import annotations

import random
import re
import threading
import uuid
from collections import Counter
from collections.abc import Sequence
from http.client import HTTPException
from urllib.parse import urlencode

from django.core.files.base import ContentFile
from django.db import DatabaseError, connection
from django.test import Client

from runs.enums import ApprovalPolicy, GateKind, RunStatus, StepApproval, Verb
from runs.errors import UploadRefused
from runs.models import Gate, Run
from runs.submission.intake import Upload
from runs.submission.submit import Submission, submit
from tests.factories import person, policy
from tests.integration.web.site.visitor import Visitor

PAUSE = 0.2
"""Seconds between two looks."""


class Person(threading.Thread):
    """Keeps `under_way` runs going until `no_more` is called; then decides until all have ended.

    `answers` counts the statuses of the sites, `unreached` the requests that nobody answered, `refused` submissions.
    """

    def __init__(self, ports: Sequence[int], under_way: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.answers: Counter[int] = Counter()
        self.unreached = self.refused = 0
        self.handed_in: list[uuid.UUID] = []
        self._chance = random.Random(seed)
        self._ports = ports
        self._under_way = under_way
        self._stop = threading.Event()
        self._next = uuid.uuid4()
        self._owner = person("alice", is_superuser=True)
        client = Client(SERVER_NAME="127.0.0.1")
        client.force_login(self._owner)
        self._visitor = Visitor(ports[0])
        self._visitor.carry({name: morsel.value for name, morsel in client.cookies.items()})

    def no_more(self) -> None:
        self._under_way = 0

    def leave(self) -> None:
        self._stop.set()
        self.join()

    def run(self) -> None:
        while not self._stop.wait(PAUSE):
            try:
                self._look()
            except DatabaseError:  # it is away; a submission that may have arrived is sent again as the same one
                connection.close()
            except UploadRefused:  # in words, since the disk is full
                self.refused += 1
        connection.close()

    def _look(self) -> None:
        for _ in range(self._under_way - Run.objects.exclude(status=RunStatus.FINISHED).count()):
            self._hand_in()
        for gate in Gate.objects.open().order_by("pk")[:20]:
            try:
                self._decide(gate)
            except (OSError, HTTPException):
                self.unreached += 1

    def _hand_in(self) -> None:
        files = [Upload("notes.md", ContentFile(f"Notes {self._next}.\n".encode()))]
        chosen = policy(
            plan_approval=ApprovalPolicy.ALWAYS,
            step_approval=StepApproval.NONE,
            min_document_bytes=0,
            sources_needed=False,
        )
        submit(self._owner, Submission("Do the work", files, chosen, self._next))
        self.handed_in.append(self._next)
        self._next = uuid.uuid4()

    def _decide(self, gate: Gate) -> None:
        """Approve a plan, and try again after an error, as the form of the page would."""
        assert gate.kind in {GateKind.PLAN, GateKind.ERROR}, f"{gate.kind}: {gate.question}"
        self._visitor.port = self._chance.choice(self._ports)
        address = f"/runs/{gate.run_id}/"
        status, page = self._visitor.get(address)
        self.answers[status] += 1
        if token := re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page):
            sent = {"csrfmiddlewaretoken": token[1], "verb": Verb.APPROVE.value, "digest": gate.digest}
            referer = f"http://127.0.0.1:{self._visitor.port}{address}"
            headers = {"Content-Type": "application/x-www-form-urlencoded", "Referer": referer}
            status, _ = self._visitor.send("POST", f"{address}gates/{gate.pk}/", urlencode(sent).encode(), **headers)
            self.answers[status] += 1
