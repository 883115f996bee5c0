"""An attack on a site: requests made at random from what it offers, and what became of each."""

import gc
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from random import Random
from urllib.parse import quote, urlencode

from django.db import transaction
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.hostile.bounds import limited
from tests.hostile.fuzzing import values
from tests.hostile.fuzzing.surface import (
    Address,
    Fields,
    addresses,
    field_names,
    forms_in,
    names_in_links,
    query_names,
    real_or_hostile,
)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
MAX_SECONDS = 0.5
"""Of the processor, on the machine for which the tests give their seconds; most answers take a hundredth of it."""


@dataclass
class Site:
    """`people`: a browser for each role. `real`: for each run the arguments that lead somewhere, by their names.
    `pages`: the HTML at each path that answers; nothing where it is a file.
    """

    people: dict[str, Client]
    real: list[dict[str, str]]
    plan: object
    forms: dict[str, list[Fields]] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=lambda: {*query_names()})

    def crawl(self) -> None:
        """Find pages, forms, and names in queries: those of a run with each run, the administration and files with one:
        there is nothing to be found in files, and some take long to be made.
        """
        for address in addresses():
            of_a_run = any(name in real for real in self.real for name, _ in address.parameters)
            for real in self.real if of_a_run and not address.is_admin else self.real[:1]:
                path = address.path({name: quote(real.get(name, "1")) for name, _ in address.parameters})
                self._look_at(path)
                if self.pages.get(path) == "":
                    break

    def _look_at(self, path: str) -> None:
        answer = self.people["administrator" if path.startswith("/admin/") else "owner"].get(path)
        if answer.status_code != 200:
            return
        page = answer.getvalue().decode() if "html" in answer.get("Content-Type", "") else ""
        self.pages[path] = page
        self.names |= names_in_links(page)
        for to, fields in forms_in(page, path):
            self.forms.setdefault(to, []).append(fields)


@dataclass(frozen=True)
class Request:
    who: str
    method: str
    path: str
    query: str = ""
    body: bytes = b""
    content_type: str = ""

    def __str__(self) -> str:
        where = f"{self.path[:200]}?{self.query[:200]}"
        return f"{self.who}: {self.method} {where} {self.content_type[:60]} {self.body[:600]!r}"


@dataclass
class Report:
    """`problems`: requests that were answered with 5xx, or took too long."""

    asked: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def attack(site: Site, count: int, seed: int) -> Report:
    """Send so many requests. What one changes is taken back before the next, so that each meets the whole site."""
    random, report = Random(seed), Report()
    every, names = addresses(), sorted(site.names)
    for number in range(count):
        request = _request(site, every[number % len(every)], names, random)
        _send(site, request, report)
        if number % 500 == 499:
            gc.collect()
    return report


def _request(site: Site, address: Address, names: list[str], random: Random) -> Request:
    """Half of them forms that are there, mostly by somebody who may post them: what is made up ends in a 404."""
    who = random.choice([*site.people] + ["owner"] * 4 + ["administrator"])
    kind = random.random()
    if kind < 0.5:
        path = _chosen(sorted(site.forms), random)
        body = _body(random.choice(site.forms[path]), site, random)
        return Request(who, "POST", path, _query(names, random), *body)
    if kind < 0.8:
        return Request(
            who, random.choice(("GET", "GET", "HEAD")), _chosen(sorted(site.pages), random), _query(names, random)
        )
    real = random.choice(site.real)
    arguments = {name: real_or_hostile(real.get(name, "1"), 0.3, random) for name, _ in address.parameters}
    method = random.choice(METHODS)
    body = _body({}, site, random) if method not in {"GET", "HEAD"} else (b"", "")
    return Request(who, method, address.path(arguments), _query(names, random), *body)


def _chosen(paths: list[str], random: Random) -> str:
    """The administration has the most pages, and they are Django's."""
    ours = [path for path in paths if not path.startswith("/admin/")]
    return random.choice(ours if random.random() < 0.85 else paths)


def _query(names: list[str], random: Random) -> str:
    """Half of all names that a page may ask for, each with something hostile."""
    chosen = random.sample(names, len(names) // 2)
    return urlencode([(name, values.text(random)[:300]) for name in chosen])


def _body(fields: Fields, site: Site, random: Random) -> tuple[bytes, str]:
    sent = {name: random.choice(offered) for name, offered in fields.items()}
    unasked = random.sample(field_names(), random.choice((0, 0, 1, 3)) if sent else 5)
    for name in random.sample([*sent], min(len(sent), random.randint(0, 3))):
        sent[name] = values.text(random)
    sent |= {name: random.choice(values.NUMBERS) for name in unasked}
    if random.random() < 0.1:
        return random.choice((b"\xff" * 1_000, b"--x\r\n", b"a=%ff%00&" * 500, b"[" * 9_000)), random.choice(
            values.TYPES
        )
    if "plan_file" not in sent and random.random() < 0.8:
        return urlencode(sent).encode(), "application/x-www-form-urlencoded"
    data: dict[str, object] = {
        name: value for name, value in sent.items() if name not in {"plan_file", "files", "folder"}
    }
    body = encode_multipart(BOUNDARY, data).removesuffix(f"--{BOUNDARY}--\r\n".encode())
    for name, content in _files(site, random):
        body += _part(name, random.choice(values.NAMES), content)
    return body + f"--{BOUNDARY}--\r\n".encode(), MULTIPART_CONTENT


def _files(site: Site, random: Random) -> Iterator[tuple[str, bytes]]:
    if random.random() < 0.6:
        yield "plan_file", values.mutated_json(site.plan, random).encode("utf-8", "surrogatepass")
    for _ in range(random.randint(0, 3)):
        yield random.choice(("files", "folder")), values.text(random).encode()


def _part(name: str, file: str, content: bytes) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n'
    return head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n"


@contextmanager
def undone(client: Client) -> Iterator[None]:
    """What is changed inside is taken back, the browser's cookies included: its session is there again."""
    cookies = SimpleCookie(client.cookies.output(header="", sep=";"))
    try:
        with transaction.atomic():
            yield
            transaction.set_rollback(True)
    finally:
        client.cookies = cookies


def _send(site: Site, request: Request, report: Report) -> None:
    client = site.people[request.who]
    try:
        with undone(client), limited(MAX_SECONDS):
            answer = client.generic(
                request.method, request.path, request.body, request.content_type, QUERY_STRING=request.query
            )
            if answer.streaming:
                answer.getvalue()
    except Exception:
        report.problems.append(f"{request}\n{traceback.format_exc()[-3_000:]}")
        return
    report.asked += 1
    report.statuses[answer.status_code] += 1
    if answer.status_code >= 500:
        error = getattr(answer, "exc_info", None)
        trace = "".join(traceback.format_exception(*error))[-3_000:] if error else ""
        report.problems.append(f"{answer.status_code} {request}\n{trace}")
