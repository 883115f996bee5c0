"""Every page of the product in a real browser: for everybody, in both themes, on a small phone, without a complaint."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping

import pytest
from django.urls import resolve
from playwright.sync_api import Page, expect

from runs.web.site.throttle import MAX_WRONG
from tests.browser.accessible import Walk, check_fits
from tests.browser.site import Site
from tests.factories.agents import WRITER
from tests.hostile.fuzzing.surface import addresses
from tests.integration.web.test_access import TABLE

GATES = [
    "plan of 4",
    "plan with an agent",
    "plan with a changed agent",
    "second plan",
    "kept",
    "start",
    "result of 4",
    "rows",
    "exhausted",
    "blocked",
    "error",
    "budget",
    "question",
    "time limit",
]
STATES = [*GATES, "succeeded", "partial", "stopped", "files of all kinds"]
WALKS = {
    "gates": [f"/runs/{{{gate}}}/" for gate in GATES],
    "lists and forms": [
        "/",
        "/?show=all",
        "/?show=all&q=review&state=partial",
        "/?q=nowhere",
        "/metrics/",
        "/access-tokens/",
        "/help/",
        "/help/glossary/",
        "/runs/new/",
        "/templates/",
        "/templates/document-review/",
        "/templates/{template}/",
        "/templates/{template}/delete/",
        "/runs/{sample}/template/",
        "/runs/{sample}/again/",
        "/runs/{sample}/again/with/",
        "/runs/{sample}/manage/",
        "/runs/{sample}/delete/",
        "/runs/{sample}/people/",
    ],
    "runs": [
        "/runs/{partial}/",
        "/runs/{stopped}/",
        "/runs/{running}/",
        "/runs/{sample}/",
        "/runs/{sample}/?view=timeline",
        "/runs/{sample}/?view=table",
        "/runs/{kept}/?view=timeline",
        "/runs/{partial}/steps/",
        "/runs/{kept}/steps/",
        "/runs/{partial}/steps/{step}/",
        "/runs/{sample}/history/",
        "/runs/{partial}/history/?show=calls",
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
"""Where a name in braces stands for the run in this state, or for what the fixture `made` says."""
FOR_ADMINISTRATORS = [
    "/people/",
    "/status/",
    "/status/servers/",
    "/agents/",
    "/agents/new/",
    "/agents/new/?sample",
    "/agents/{agent}/",
    "/agents/{agent}/delete/",
]
FOR_STRANGERS = ["/sign-in/", "{link}"]
NO_PAGES = {
    "runs/drafts/<uuid:draft>/": "the list of its files, for a script",
    "runs/<int:run_id>/plans/<int:version>.json": "a file",
    "runs/<int:run_id>/report.<report_format:report_format>": "files, which the stories of the report open",
    "runs/<int:run_id>/files.zip": "a file",
    "runs/<int:run_id>/history/calls/<int:work_id>/": "a part of the history",
    "runs/<int:run_id>/gates/<int:gate_id>/<slug:part>/": "a part of a gate",
    "runs/new/estimate/": "a part of the form",
    "next/": "leads to a run",
    "healthz": "for machines",
    "readyz": "for machines",
    "metricsz": "for machines",
}


@pytest.fixture(scope="module")
def made(site: Site, me: str) -> Mapping[str, str]:
    numbers: dict[str, int] = dict(zip(STATES, site.write("runs", me, *STATES), strict=True))
    numbers["sample"] = site.write("sample", me)
    numbers["running"] = site.write("crowd", me, 60, 5, 4)
    numbers["template"] = site.write("template", me, numbers["sample"], "Notes")
    numbers["step"] = site.write("step", numbers["partial"], "review")
    link = site.manage("people", "link", me, "--base", "").strip()
    return {"link": link, "agent": WRITER, **{name: str(number) for name, number in numbers.items()}}


def check_page(page: Page, walk: Walk) -> None:
    expect(page.locator("h1")).to_have_count(1)
    assert page.title().endswith(" · pevsite")
    assert page.locator("[maxlength]").count() == 0  # it cuts what is pasted without a word
    walk.check_both_themes()
    check_fits(page)


def test_no_page_is_forgotten() -> None:
    walked = {
        resolve(re.sub(r"{[^}]*}", "1", "/sign-in/1/" if one == "{link}" else one.split("?")[0])).route
        for one in itertools.chain(*WALKS.values(), FOR_ADMINISTRATORS, FOR_STRANGERS)
    }
    assert walked & set(NO_PAGES) == set()
    got = {one.route for one in addresses() if one.route in TABLE and TABLE[one.route].get}
    assert got - walked == set(NO_PAGES)


@pytest.mark.provokes("410", "404", "429")
@pytest.mark.parametrize(
    ("address", "status"), [("/sign-in/?spent", 410), ("/nowhere/", 404), ("/sign-in/nobody/", 429)]
)
def test_so_are_answers_that_are_none(blank: Page, site: Site, address: str, status: int) -> None:
    if status != 404:
        blank.context.clear_cookies()
    if status == 429:
        for _ in range(MAX_WRONG):
            blank.request.get(site.url + address, max_redirects=0)
    answer = blank.goto(site.url + address)
    assert answer
    assert answer.status == status
    check_page(blank, Walk(blank))


def check_pages(page: Page, site: Site, made: Mapping[str, str], addresses: Iterable[str]) -> None:
    """One after the other in one page: a new one takes as long as what is checked."""
    walk, problems = Walk(page), []
    for address in addresses:
        try:
            visit(page, site.url + re.sub("{([^}]*)}", lambda name: made[name[1]], address))
            check_page(page, walk)
        except AssertionError as error:
            problems.append(f"{address}: {error}")
    if problems:
        pytest.fail("\n".join(problems))


def visit(page: Page, url: str) -> None:
    answer = page.goto(url)
    assert answer
    assert answer.status == 200
    if page.locator("#live").count():
        expect(page.locator("#live")).to_have_attribute("data-state", "live")


@pytest.mark.parametrize("name", WALKS)
def test_they_are_for_everybody(blank: Page, site: Site, made: Mapping[str, str], name: str) -> None:
    check_pages(blank, site, made, WALKS[name])


def test_so_are_pages_for_administrators(blank: Page, site: Site, made: Mapping[str, str]) -> None:
    (session,) = site.account("root", administrator=True)["cookies"]
    blank.context.add_cookies([{"name": "sessionid", "value": session["value"], "url": site.url}])
    check_pages(blank, site, made, FOR_ADMINISTRATORS)


def test_so_are_pages_for_strangers(blank: Page, site: Site, made: Mapping[str, str]) -> None:
    blank.context.clear_cookies()
    check_pages(blank, site, made, FOR_STRANGERS)
