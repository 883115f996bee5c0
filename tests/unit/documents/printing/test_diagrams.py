"""Diagrams as pictures: the same bytes each time, bounded, and nothing that a source names is read or fetched."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image

from runs import isolation
from runs.documents.packed_parts import unpacked
from runs.documents.printing.diagrams import safe
from runs.errors import InvalidInput
from runs.store.diagram_pictures import LIMITS, words_for

PICTURE = "runs.documents.printing.diagrams.picture"
FLOW = "flowchart LR\n  web[Website] --> db[(Database)]"
RED = (255, 0, 0)


def drawn(source: str) -> Image.Image:
    return taken_apart(isolation.run(PICTURE, source.encode(), LIMITS))[1]


def taken_apart(data: bytes) -> tuple[dict[str, int], Image.Image]:
    header, png = unpacked(data)
    return json.loads(header), Image.open(io.BytesIO(png)).convert("RGB")


def colours(image: Image.Image) -> set[tuple[int, ...]]:
    return {colour for _, colour in image.getcolors(1 << 24) or [] if isinstance(colour, tuple)}


@pytest.mark.slow
def test_a_diagram_is_a_sharp_picture_on_white_and_the_same_bytes_each_time() -> None:
    first = isolation.run(PICTURE, FLOW.encode(), LIMITS)
    size, image = taken_apart(first)
    assert image.size == (2 * size["width"], 2 * size["height"]) or abs(image.width - 2 * size["width"]) <= 1
    assert image.getpixel((0, 0)) == (255, 255, 255)
    assert isolation.run(PICTURE, FLOW.encode(), LIMITS) == first


@pytest.mark.slow
def test_labels_are_in_the_picture() -> None:
    empty, filled = drawn('flowchart LR\n  a["&nbsp;&nbsp;&nbsp;"]'), drawn("flowchart LR\n  a[WWW]")
    assert len(colours(filled)) > len(colours(empty))


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        'sequenceDiagram\n  participant a\n  properties a: {"icon": "PATH", "class": "x"}\n'
        '  participant b\n  properties b: {"icon": "file://PATH", "class": "x"}\n  a->>b: x',
        "flowchart LR\n  a[\"<svg width='60'><image href='PATH' width='60' height='60'></image></svg>\"] --> "
        "b[\"<svg width='60'><image href='file://PATH' width='60' height='60'></image></svg>\"]",
        "flowchart LR\n  a[\"<img src='PATH'>\"] --> b[\"<img src='file://PATH'>\"]",
        '%%{init: {"themeCSS": ".node rect {fill: url(PATH)} .edge rect {fill: url(file://PATH)}"}}%%\n'
        "flowchart LR\n  a -- x --> b",
        '%%{init: {"themeCSS": "@import url(PATH); @import url(file://PATH);"}}%%\nflowchart LR\n  a --> b',
        'flowchart LR\n  a@{ img: "PATH", label: "x", w: 60, h: 60 }\n'
        '  b@{ img: "file://PATH", label: "x", w: 60, h: 60 }\n  a --> b',
    ],
)
def test_pictures_styles_and_fonts_from_elsewhere_are_not_read(source: str, tmp_path: Path) -> None:
    file = tmp_path / "red.png"
    Image.new("RGB", (60, 60), RED).save(file)
    with suppress(InvalidInput):  # that Mermaid refuses it is well too
        assert RED not in colours(drawn(source.replace("PATH", str(file))))


HOSTILE = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">
<style>@import url(http://x/a.css); .a { fill: u\\72l(x); background: url("http://x/b") } .b { fill: url(#c) }</style>
<script>alert(1)</script><a xlink:href="javascript:alert(1)" onclick="alert(1)"><text>words</text></a>
<image href="/etc/passwd"/>tail<use href="other.svg#x"/><rect fill="url(http://x/y)" stroke="url(#c)" onload="x()"/>
<foreignObject><p xmlns="http://www.w3.org/1999/xhtml"><iframe src="//x"/><img src="/a.png"/>said</p></foreignObject>
</svg>"""


def test_what_names_something_elsewhere_is_taken_out_of_what_is_painted() -> None:
    found = safe(HOSTILE)
    for gone in (
        "script",
        "alert",
        "onclick",
        "onload",
        "javascript",
        "http://x",
        "/etc",
        "iframe",
        "//x",
        "img",
        "other.svg",
    ):
        assert gone not in found
    assert "\\" not in found
    for kept in ("words", "tail", "said", 'stroke="url(#c)"', "fill: url(#c)"):
        assert kept in found


@pytest.mark.parametrize(
    "part",
    [
        r"<rect style='fill:u\72 l(http://x/y)'/>",
        r"<rect fill='\75rl(http://x/y)'/>",
        r"<rect style='fill:UR\4C(\22http://x/y\22)'/>",
        "<rect style='fill:url( &quot;http://x/y&quot; )'/>",
        "<rect style='background:image(&quot;http://x/y&quot;)'/>",
        "<rect style='background:image-set(&quot;http://x/y&quot; 1x)'/>",
        "<rect style='background:-webkit-image-set(url(http://x/y) 1x)'/>",
        "<rect style='mask:cross-fade(url(http://x/y), url(#a))'/>",
        "<rect style='fill:src(&quot;http://x/y&quot;)'/>",
        "<rect style='--a:url(http://x/y);fill:var(--a)'/>",
        "<style>.a{fill:u\\72l(http://x/y)}</style>",
        "<style>.a{fill:/**/url(http://x/y)}</style>",
        "<style>@im\\70ort 'http://x/y';</style>",
        "<style>@media all{@import 'http://x/y'; .a{fill:red}}</style>",
        "<style>@font-face{src:url(http://x/y)}</style>",
        "<style>@media all{@font-face{src:local(x),url(http://x/y)}}</style>",
        "<style>.a{<b xmlns='x'>fill:url(http://x/y)</b>}</style>",
        "<style><![CDATA[.a{fill:url('http://x/y')}]]></style>",
        "<image href='#a'><animate attributeName='href' to='http://x/y'/></image>",
        "<image href='#a'><set attributeName='href' to='http://x/y'/></image>",
        "<a href='#a'><animate attributeName='href' values='#a;http://x/y'/></a>",
        "<g><animateTransform to='http://x/y'/><animateMotion path='http://x/y'/></g>",
        "<g><discard href='http://x/y'/></g>",
        "<image srcset='http://x/y 1x'/>",
        "<image xml:base='http://x/y' href='#a'/>",
        "<foreignObject><b:body xmlns:b='http://www.w3.org/1999/xhtml' background='http://x/y'/></foreignObject>",
        "<rect fill='-moz-element(http://x/y)'/>",
        "<image href=' http://x/y'/>",
        "<image href='data:image/svg+xml,http://x/y'/>",
        "<rect filter='url(#a) url(http://x/y)'/>",
        "<style>@layer a{@font-face{src:url(http://x/y)}}</style>",
        "<style>.a{fill:url(http://x/y</style>",
        "<font-face-uri href='http://x/y'/>",
    ],
)
def test_no_spelling_of_an_address_elsewhere_is_painted(part: str) -> None:
    kept = safe(
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'>{part}<text fill='url(#c)'>words</text></svg>"
    )
    assert "//x" not in kept
    assert "animate" not in kept.lower()
    assert "<set" not in kept
    assert 'fill="url(#c)">words' in kept


def test_styles_that_name_nothing_elsewhere_are_kept() -> None:
    sheet = "#a .b > rect{fill:#fff;stroke:url(#c)}@keyframes d{from{opacity:0}}"
    kept = safe(
        f"<svg xmlns='http://www.w3.org/2000/svg'><style>{sheet}</style><path d='M1,2 L3(4)' style='fill:red'/></svg>"
    )
    for part in (
        "#a .b &gt; rect{fill:#fff;stroke:url(#c)}",
        "@keyframes d{from{opacity:0}}",
        'd="M1,2 L3(4)"',
        'style="fill:red"',
    ):
        assert part in kept


def test_what_is_no_whole_svg_is_refused() -> None:
    with pytest.raises(InvalidInput, match="what Mermaid makes of it is no whole SVG"):
        safe("<svg")


def test_an_entity_of_a_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret")
    kind = f"<!DOCTYPE svg [<!ENTITY a SYSTEM 'file://{tmp_path}/secret'>]>"
    assert "a secret" not in safe(f"{kind}<svg viewBox='0 0 1 1'><text>&a;</text></svg>")


@pytest.mark.slow
def test_what_is_larger_than_can_be_read_is_refused_with_its_size() -> None:
    long = '%%{init: {"flowchart": {"rankSpacing": 7000}}}%%\nflowchart LR\n  a --> b'
    with pytest.raises(InvalidInput, match=r"it would be .* by \d+ pixels, and 6,000 a side can be shown"):
        drawn(long)


@pytest.mark.slow
def test_what_takes_too_long_is_ended() -> None:
    large = "flowchart LR\n" + "".join(f"  n{n} --> n{(7 * n) % 900}\n" for n in range(900))
    limits = isolation.Limits(megabytes=600, cpu_seconds=1, seconds=5)
    with pytest.raises(isolation.ChildFailed):
        isolation.run(PICTURE, large.encode(), limits)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (FLOW, "Flowchart"),
        ("graph TD\n accTitle: How money flows\n a --> b", "Flowchart: How money flows"),
        ("---\ntitle: Parts\n---\nsequenceDiagram\n A->>B: x", "Sequence diagram: Parts"),
        ('%%{init: {}}%%\npie title Pets\n "Dogs" : 1', "Pie chart: Pets"),
        ("", "Diagram"),
        ("boxes", "Diagram"),
    ],
)
def test_the_alternative_text_says_kind_and_title(source: str, words: str) -> None:
    assert words_for(source) == words
