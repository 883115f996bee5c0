"""Style sheets of hostile pages: what they cost is bounded by counting, whatever their selectors look at."""

import pytest

from runs.documents.formats.html import html_reader as html
from runs.documents.formats.html import style_sheets
from runs.documents.formats.html.style_sheets import TOO_MANY
from runs.errors import InvalidInput
from tests.hostile.bounds import within

REFUSED = {
    "rules for all elements": "<style>"
    + "*{color:red}" * 2_000
    + "</style>"
    + "".join(f"<p class={n}>x" for n in range(999)),
    "siblings before siblings": "<style>i ~ i ~ .n ~ i{color:red}</style>" + "<i>x</i>" * 5_000,
    "inside of all": "<style>:has(:has(:has(b))){color:red}</style>" + "<p><i>x</i></p>" * 1_000 + "<i>" * 200,
    "ancestors of ancestors": f"<style>.no {'.a ' * 20}.b{{color:red}}</style>{'<div class=a>' * 240}<p class=b>x",
    "a long selector": "<style>p:not(" + ",".join(f".x{n}" for n in range(2_000)) + "){color:red}</style><p>x",
    "nested rules": "<style>" + "p{& & &, & &{" * 30 + "color:red" + "}}" * 30 + "</style><p>x",
    "nested blocks": "<style>" + "p{" * 100_000 + "</style><p>x",
    "nested selectors": "<style>" + ":is(" * 900 + "p" + ")" * 900 + "{color:red}</style><p>x",
    "characters": "<style>" + "p{color:red}" * 400_000 + "</style><p>x",
    "sheets": "<style>" + "@import url(data:text/css,p{});" * 5_000 + "</style><p>x",
    "variables": "<style>:root{--a:" + "x " * 2_000 + "} p{color:var(--a)}</style><p>x",
}
READ = {
    "brackets": "<style>p{color:" + "calc(" * 100_000 + "</style><p>x",
    "brackets in conditions": "<style>@media " + "(" * 100_000 + "</style><p>x",
    "digits": "<style>p{left:" + "9" * 100_000 + "px}</style><p>x",
    "comment": "<style>" + "/*" * 300_000 + "</style><p>x",
    "layers": "<style>" + "".join(f"@layer l{n}{{p{{color:red}}}}" for n in range(10_000)) + "</style><p>x",
    "variables of variables": "<style>:root{--a:x x;"
    + "".join(f"--{chr(98 + n)}:" + f"var(--{chr(97 + n)}) " * 10 + ";" for n in range(20))
    + "} p{color:var(--u)}</style><p>x",
    "variables at each level": "".join(f"<div style='--a{n}:x;color:var(--a0)'>" for n in range(240)) + "x",
    "variables for each paragraph": "<style>:root{"
    + "".join(f"--a{n}:x;" for n in range(5_000))
    + "}</style>"
    + "".join(f"<p style='--b:{n}'>" for n in range(5_000))
    + "x",
    "a table of many rows": "<style>tr:nth-of-type(odd)>*{background:#eee}</style><table>" + "<tr><td>x" * 10_000,
    "white words in many boxes": "<div style='position:relative'>" * 200 + "<b style='color:#fff'>x</b>" * 10_000,
}


def reading(page: bytes, steps: int = style_sheets.MAX_STEPS) -> str:
    """What it is refused with, if it is. It runs in a process of its own."""
    style_sheets.MAX_STEPS = steps
    try:
        return "read" if html.make(page).text else ""
    except InvalidInput as error:
        return str(error)


@pytest.mark.parametrize("page", REFUSED.values(), ids=REFUSED)
@pytest.mark.slow
def test_what_needs_too_many_steps_is_refused(page: str) -> None:
    assert within(1, 400, f"{__name__}.reading", page.encode(), 500_000) == TOO_MANY


@pytest.mark.parametrize("page", READ.values(), ids=READ)
@pytest.mark.slow
def test_what_is_only_strange_is_read_in_bounded_time(page: str) -> None:
    assert within(3, 400, f"{__name__}.reading", page.encode()) == "read"
