"""Icons: pages name those of the sprite, and style sheets draw the same shapes."""

import re
from pathlib import Path
from urllib.parse import unquote

from runs.enums import GateKind
from tests.installation import ROOT

TEMPLATES = [*(ROOT / "templates").rglob("*.html")]
STYLES = [*(ROOT / "static" / "css").rglob("*.css")]


def read(paths: list[Path]) -> str:
    return "\n".join(path.read_text() for path in paths)


def sprite() -> dict[str, str]:
    text = (ROOT / "static" / "vendor" / "lucide" / "icons.svg").read_text()
    return dict(re.findall(r'<symbol id="([\w-]+)" viewBox="0 0 24 24">(.*?)</symbol>', text))


def drawn() -> dict[str, str]:
    text = (ROOT / "static" / "css" / "icons.css").read_text()
    found = re.findall(r'--icon-([\w-]+): url\("data:image/svg\+xml,(.*?)"\);', text)
    return {name: re.sub(r"</?svg[^>]*>", "", unquote(svg)).replace("'", '"') for name, svg in found}


def test_templates_use_every_icon_of_the_sprite_and_no_other() -> None:
    assert {*re.findall(r'\{% icon "([\w-]+)" %\}', read(TEMPLATES))} == {*sprite()}


def test_style_sheets_use_every_icon_that_they_draw_and_no_other() -> None:
    assert {*re.findall(r"var\(--icon-([\w-]+)\)", read(STYLES))} == {*drawn()}


def test_an_icon_of_both_has_one_shape() -> None:
    both = {*sprite()} & {*drawn()}
    assert {name: drawn()[name] for name in both} == {name: sprite()[name] for name in both}
    assert "x" in both


def test_each_kind_of_decision_in_the_inbox_has_an_icon_of_its_own() -> None:
    text = (ROOT / "static" / "css" / "inbox" / "inbox.css").read_text()
    icons = dict(re.findall(r'\[data-gate-kind="(\w+)"\] \{\n  --icon: var\(--icon-([\w-]+)\);', text))
    assert {*icons} == {kind.value for kind in GateKind}
    assert len({*icons.values()}) == len(icons)


def test_no_page_has_a_character_as_an_icon() -> None:
    text = read([*TEMPLATES, *STYLES])
    text = re.sub(r"<kbd>.</kbd>", "", text)  # keys are named by what is printed on them
    assert re.findall(r"[←-↓↳⋮⋯■-◿☐-☒⚠✓-✘❙×Δ⊘]", text) == []
