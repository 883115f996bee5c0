"""Every page of the product in a real browser: for everybody, in both themes, on a small phone, without a complaint."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping

import pytest
from django.urls import resolve
from playwright.sync_api import Page, expect

from runs.acts.registry import SHAPES
from runs.enums import GateKind
from runs.web.site.throttle import MAX_WRONG
from tests.browser.accessible import Walk, check_fits
from tests.browser.pages import FOR_ADMINISTRATORS, FOR_STRANGERS, GATES, NO_PAGES, WALKS, Made, filled
from tests.browser.site import Site
from tests.hostile.fuzzing.surface import addresses
from tests.integration.web.test_access import TABLE


@pytest.fixture(scope="module")
def made(site: Site, me: str) -> Made:
    return Made(site, me)


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


def test_no_kind_of_gate_is_forgotten() -> None:
    assert list(GATES) == list(GateKind)


@pytest.mark.exhaustive
def test_every_state_waits_at_its_kind_of_gate(site: Site, made: Made) -> None:
    asked = {kind: site.write("asked_at", [made[state] for state in states]) for kind, states in GATES.items()}
    assert asked == {kind: [kind] * len(states) for kind, states in GATES.items()}
    shapes = {site.write("shape_of_call", made[state]) for state in GATES[GateKind.TOOL]}
    assert shapes == {"", *(shape.name for shape in SHAPES)}


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
    for address in [filled(address, made) for address in addresses]:
        try:
            visit(page, site.url + address)
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
def test_they_are_for_everybody(blank: Page, site: Site, made: Made, name: str) -> None:
    check_pages(blank, site, made, WALKS[name])


@pytest.mark.exhaustive
def test_so_are_pages_for_administrators(blank: Page, site: Site, made: Made) -> None:
    assert made["plan with an agent"], "there is an agent to look at"
    (session,) = site.account("root", administrator=True)["cookies"]
    blank.context.add_cookies([{"name": "sessionid", "value": session["value"], "url": site.url}])
    check_pages(blank, site, made, FOR_ADMINISTRATORS)


def test_so_are_pages_for_strangers(blank: Page, site: Site) -> None:
    blank.context.clear_cookies()
    link = site.invite("stranger").removeprefix(site.url)
    check_pages(blank, site, {"link": link}, FOR_STRANGERS)
