"""Text of pages that nobody sees, in all the ways that are known; and text that is seen, which is never marked."""

import pytest

from runs.documents.formats.eml import eml_reader as eml
from runs.documents.formats.epub import epub_reader as epub
from runs.documents.formats.html.html_reader import ELSEWHERE, make
from runs.documents.model.layout import MarkKind
from runs.documents.places.document import Document
from runs.documents.places.views import own_text
from tests.documents.texts import book

_AT = "<p>seen <span class='x y' id='i' data-k='v-1' lang='en'>secret</span> seen</p>"
_SR_ONLY = (
    "position:absolute;width:1px;height:1px;padding:0;margin:-1px;overflow:hidden;clip:rect(0,0,0,0);"
    "white-space:nowrap;border:0"
)
BY_DECLARATION = [
    "display:none",
    "DISPLAY : NONE",
    "display:none!important",
    r"\64isplay:none",
    r"display:\6eone",
    r"d\69 splay:n\6f ne",
    "display:/* x */none",
    "visibility:hidden",
    "visibility:collapse",
    "opacity:0",
    "opacity:.01",
    "opacity:0%",
    "opacity:0.0",
    "filter:opacity(0)",
    "filter:blur(0) opacity(0%)",
    "content-visibility:hidden",
    "font-size:0",
    "font-size:1px",
    "font-size:0.1em",
    "font-size:1%",
    "font-size:calc(1px + 0px)",
    "font:0/0 a",
    "font:1px Arial",
    "zoom:0.1",
    "color:white",
    "color:#fff",
    "color:#fefefe",
    "color:rgb(255,255,255)",
    "color:rgb(100% 100% 100%)",
    "color:hsl(0, 0%, 100%)",
    "color:hsl(120 0% 99%)",
    "color:hwb(0 100% 0%)",
    "color:oklch(100% 0 0)",
    "color:color-mix(in srgb, white, #fefefe)",
    "color:transparent",
    "color:rgba(0,0,0,0)",
    "color:rgb(0 0 0 / 1%)",
    "color:#0000",
    "color:black;color:white",
    "color:white;color:nonsense",
    "color:white!important;color:black",
    "background:black;color:black",
    "background:#123456;color:#123457",
    "background:navy linear-gradient(red, red);color:red",
    "-webkit-text-fill-color:transparent",
    "-webkit-text-security:disc",
    "--c:white;color:var(--c)",
    "--a:none;display:var(--a)",
    "color:var(--no, white)",
    "--a:var(--b);--b:white;color:var(--a)",
    "--f:0/0 a;font:var(--f)",
    "position:absolute;left:-9999px",
    "position:absolute;top:-999em",
    "position:fixed;left:-100vw",
    "position:absolute;inset:-9999px auto auto -9999px",
    "position:absolute;inset-inline-start:-9999px",
    "position:absolute;right:-9999px",
    "position:absolute;left:-100%",
    "position:absolute;left:calc(-1 * 9999px)",
    "position:relative;left:-9999px",
    "display:block;text-indent:-9999px",
    "display:block;text-indent:100%;white-space:nowrap;overflow:hidden",
    "margin-left:-9999px",
    "margin:-9999px 0 0",
    "transform:translateX(-9999px)",
    "transform:translate(-200vw, 0)",
    "translate:-9999px",
    "transform:scale(0)",
    "transform:scaleX(0)",
    "transform:scale3d(0,0,0)",
    "transform:matrix(0,0,0,0,0,0)",
    "transform:rotateX(90deg)",
    "transform:skewX(90deg)",
    "-webkit-transform:scale(0)",
    "scale:0",
    "scale:.05",
    "position:absolute;clip:rect(0 0 0 0)",
    "position:absolute;clip:rect(1px,1px,1px,1px)",
    "clip-path:inset(50%)",
    "clip-path:inset(100%)",
    "clip-path:circle(0)",
    "clip-path:ellipse(0 0)",
    "clip-path:polygon(0 0, 0 0, 0 0)",
    "-webkit-clip-path:inset(50%)",
    "mask-image:linear-gradient(transparent, transparent)",
    "display:block;height:0;overflow:hidden",
    "display:inline-block;width:0;overflow:hidden",
    "display:block;max-height:0;overflow:hidden",
    "display:block;max-width:1px;overflow:clip",
    "float:left;height:1px;overflow:hidden",
    "display:block;line-height:0;overflow:hidden",
    "letter-spacing:-1em",
    _SR_ONLY,
]
BY_SHEET = [
    ".x{display:none}",
    "span.x{display:none}",
    "#i{display:none}",
    "p span{display:none}",
    "p > .x.y{display:none}",
    "[data-k]{display:none}",
    "[data-k^=v]{display:none}",
    "[data-k='V-1' i]{display:none}",
    "[lang|=en]{display:none}",
    ":not(p):not(body):not(html){display:none}",
    "span:not(.z){display:none}",
    ":is(b, span){display:none}",
    "p:has(> b), span:first-child{display:none}",
    "span:nth-child(1){display:none}",
    "span:only-of-type{display:none}",
    "span:last-child{display:none}",
    "span:lang(en){display:none}",
    "span:defined{display:none}",
    "span:read-only{display:none}",
    "span:dir(ltr){display:none}",
    "span:not(:hover){display:none}",
    "span::details-content, span{display:none}",
    r".\78{display:none}",
    r".x{\64isplay:none}",
    "<!-- .x{display:none} -->",
    "<![CDATA[ .x{display:none} ]]>",
    "/*<![CDATA[*/ .x{display:none} /*]]>*/",
    ".x{color:red;display:none",
    "nonsense; .x{} .x{display:none}",
    "@media screen{.x{display:none}}",
    "@media (min-width:600px){.x{display:none}}",
    "@media (400px <= width <= 2000px){.x{display:none}}",
    "@media not print{.x{display:none}}",
    "@media only screen and (hover:hover){.x{display:none}}",
    "@media (scripting:enabled){.x{display:none}}",
    "@supports (display:grid){.x{display:none}}",
    "@layer a{.x{display:none}}",
    "@layer a, b; @layer b{.x{display:none}} @layer a{.x{display:inline}}",
    "@scope (p){.x{display:none}}",
    "@container (min-width:1px){.x{display:none}}",
    "p{& .x{display:none}}",
    "p{.x{display:none}}",
    ".x{@media screen{display:none}}",
    ".x{&.y{display:none}}",
    ".x{display:none!important} #i{display:inline}",
    "#i{display:none} .x{display:inline}",
    ".x{display:inline} .x{display:none}",
    ":root{--h:none} .x{display:var(--h)}",
    "@property --w{syntax:'*';inherits:false;initial-value:white} .x{color:var(--w)}",
    "@keyframes go{to{opacity:0}} .x{animation:go 0s forwards}",
    "@import url(data:text/css,.x%7Bdisplay:none%7D);",
    "@import 'data:text/css;base64,Lnh7ZGlzcGxheTpub25lfQ==';",
    "body{background:#000;color:#ccc} .x{color:#000}",
    "p{background:linear-gradient(red,red)} .x{color:red}",
]
BY_PAGE = {
    "hidden": "<p>seen <span hidden>secret</span></p>",
    "until found": "<p>seen</p><p hidden=until-found>secret</p>",
    "details": "<p>seen</p><details><summary>seen</summary>secret</details>",
    "details without summary": "<p>seen</p><details><p>secret</p></details>",
    "second summary": "<p>seen</p><details><summary>seen</summary><summary>secret</summary></details>",
    "dialog": "<p>seen</p><dialog>secret</dialog>",
    "popover": "<p>seen</p><div popover>secret</div>",
    "font": "<p>seen <font color=white>secret</font></p>",
    "font without a mark": "<p>seen <font color=ffffff>secret</font></p>",
    "cell": "<p>seen</p><table><tr><td bgcolor=#ff0000><font color=red>secret</font></table>",
    "body": "<body bgcolor=black text=black><p>secret</p><p style='color:white'>seen</p>",
    "links": "<p>seen</p><style>a{color:#fff}</style><a href=x>secret</a>",
    "sheet in the body": "<p>seen</p><p class=x>secret</p><div><style>.x{display:none}</style></div>",
    "sheet in a picture": "<p>seen</p><p class=x>secret</p><svg><style>.x{display:none}</style></svg>",
    "sheet behind": "<p>seen</p><p class=x>secret</p></body></html><style>.x{display:none}</style>",
    "link": "<link rel=stylesheet href='data:text/css,.x{display:none}'><p>seen</p><p class=x>secret</p>",
    "inherited": "<p>seen</p><div style='color:#fff'><ul><li><b>secret</b></li></ul></div>",
    "not shown inside": "<p>seen</p><div style='display:none'><p style='display:block'>secret</p></div>",
    "faint together": "<p>seen</p><div style='opacity:.2'><p style='opacity:.2'>secret</p></div>",
    "small together": "<p>seen</p><div style='font-size:2px'><p style='font-size:1em'>secret</p></div>",
    "behind": "<p>seen</p><div style='background:#eee'><p style='position:relative;z-index:-1'>secret</p></div>",
    "rows": "<style>table > tbody > tr > td{display:none}</style><p>seen</p><table><tr><td>secret</table>",
    "siblings": "<p>seen</p><p>secret</p><style>p + p{display:none}</style>",
    "nth": "<p>seen</p><p>secret</p><style>p:nth-of-type(2){display:none}</style>",
    "case": "<P>seen</P><P CLASS=x>secret</P><STYLE>P.x{DISPLAY:NONE}</STYLE>",
    "body's words": "<p>seen</p><p class=a>secret</p><style media='screen'>.a{left:-99in;position:absolute}</style>",
}


def hidden(page: str | bytes) -> list[str]:
    made = make(page.encode() if isinstance(page, str) else page)
    marks = made.rendered.layout.marks
    return [made.text[one.start : one.end].strip() for one in marks if one.kind is MarkKind.HIDDEN]


@pytest.mark.parametrize("style", BY_DECLARATION)
def test_what_a_declaration_hides_is_marked(style: str) -> None:
    assert hidden(f"""<p>seen <span style="{style}">secret</span> seen</p>""") == ["secret"]
    assert hidden(f"<style>.x {{ {style} }}</style>{_AT}") == ["secret"]


@pytest.mark.parametrize("sheet", BY_SHEET)
def test_what_a_style_sheet_hides_is_marked(sheet: str) -> None:
    assert hidden(f"<style>{sheet}</style>{_AT}") == ["secret"]


@pytest.mark.parametrize("page", BY_PAGE.values(), ids=BY_PAGE)
def test_what_a_page_hides_is_marked(page: str) -> None:
    assert hidden(page) == ["secret"]


SEEN = {
    "plain": "color:#ccc",
    "yellow": "color:yellow",
    "half": "opacity:.5",
    "small": "font-size:9px",
    "invalid": "display:nonsense; color:nonsense; font-size:0.5",
    "later": "display:none;display:block",
    "important": "color:black!important;color:white",
    "own ground": "background:black;color:white",
    "picture": "background:url(a.png);color:white",
    "gradient": "background:linear-gradient(#111,#333);color:white",
    "words of a gradient": "background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent",
    "outline": "color:transparent;-webkit-text-stroke:1px black",
    "shadow": "color:white;text-shadow:0 0 3px #000",
    "centred": "position:absolute;left:50%;width:1200px;margin-left:-600px",
    "moved to its middle": "position:absolute;top:50%;left:50%;transform:translate(-50%,-50%)",
    "full width": "display:block;margin:0 -9999px;padding:0 9999px",
    "box of a ratio": "display:block;height:0;padding-bottom:56.25%;overflow:hidden",
    "no cut": "display:block;height:0",
    "in a line": "width:0;height:0;overflow:hidden",
    "not placed": "left:-9999px;clip:rect(0,0,0,0)",
    "appears": "opacity:0;animation:come 1s forwards",
    "unknown variable": "color:var(--no)",
    "ring": "--a:var(--b);--b:var(--a);color:var(--a);display:var(--a)",
    "clip": "clip-path:inset(10px);clip-path:polygon(0 0,100% 0,100% 100%)",
}


@pytest.mark.parametrize("style", SEEN.values(), ids=SEEN)
def test_what_a_declaration_leaves_to_be_seen_is_not_marked(style: str) -> None:
    sheet = "@keyframes come{from{opacity:0}to{opacity:1}}"
    assert hidden(f"""<style>{sheet}</style><p>seen <span style="{style}">seen too</span> seen</p>""") == []


@pytest.mark.parametrize(
    "page",
    [
        "<style>@media print{p{display:none}}</style><p>seen</p>",
        "<style media=print>p{display:none}</style><p>seen</p>",
        "<style>@media (max-width:600px){p{display:none}}</style><p>seen</p>",
        "<style type=text/x>p{display:none}</style><p>seen</p>",
        "<template><style>p{display:none}</style></template><p>seen</p>",
        "<noscript><style>p{display:none}</style></noscript><p>seen</p>",
        "<style>@supports not (display:grid){p{display:none}}</style><p>seen</p>",
        "<style>p::before{display:none;content:'x'} p:hover{display:none}</style><p>seen</p>",
        "<style>p::after{opacity:0}</style><p>seen</p>",
        "<style>.no{display:none} #no, [no]{opacity:0}</style><p>seen</p>",
        "<style>[hidden]{display:block}</style><p hidden>seen</p>",
        "<style>div{visibility:hidden} p{visibility:visible}</style><div><p>seen</p></div>",
        "<style>ul{font-size:0} li{font-size:14px}</style><ul><li>seen</li></ul>",
        "<style>ul{font-size:0} li{font-size:1rem}</style><ul><li>seen</li></ul>",
        "<div style='color:white'><a href=x>seen</a></div>",
        "<details open><summary>seen</summary>seen</details>",
        "<p aria-hidden=true>seen</p><p inert>seen</p>",
        "<table bgcolor=navy><tr><td><font color=white>seen</font></table>",
        "<body style='background:#111;color:#eee'><p>seen</p>",
        "<style>@layer a{p{display:none}} p{display:block}</style><p>seen</p>",
        "<div style='position:relative'><img src=x><div style='position:absolute;bottom:0;color:#fff'>seen</div></div>",
        "<div style='position:relative'><div style='position:absolute;inset:0;background:url(x)'></div>"
        "<div style='position:relative;color:#fff'>seen</div></div>",
        "<style>.hero{position:relative}.bg{position:absolute;inset:0;background:#123}.t{position:relative;color:#fff}"
        "</style><div class=hero><div class=bg></div><h1 class=t>seen</h1></div>",
        "<meta name=color-scheme content=dark><p style='color:#fff'>seen</p>",
        "<style>table{color:#fff} table > tbody > tr > td{background:#222}</style><table><tr><td>seen</table>",
        "<div style='position:relative;z-index:0;background:#eee'><p style='position:relative;z-index:-1'>seen</p>",
        "<body style='background:#eee'><p style='position:relative;z-index:-1'>seen</p>",
        "<style>p:nth-child(3){display:none}</style><p>seen</p><p>seen</p>",
    ],
)
def test_what_a_page_shows_is_not_marked(page: str) -> None:
    assert hidden(page) == []


def test_style_sheets_and_scripts_that_are_not_applied_are_named_once() -> None:
    for more in ("<link rel=stylesheet href=a.css>", "<style>@import 'a.css';</style>", "<script>x()</script>"):
        made = make(f"{more}{more}<p>seen</p>".encode())
        assert made.rendered.cautions == (ELSEWHERE,)
    made = make(b"<style>p{color:red}</style><script type='application/ld+json'>{}</script><p>seen</p>")
    assert made.rendered.cautions == ()


def test_style_sheets_of_mails_hide_too() -> None:
    head = b"From: a@b.c\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    page = b"<style>.p{color:#fff}</style><link rel=stylesheet href=x.css><p class=p>secret</p><p>seen</p>"
    made = eml.make(head + page)
    assert [made.text[one.start : one.end] for one in made.rendered.layout.marks] == ["secret"]
    assert made.rendered.cautions == (ELSEWHERE,)


def test_style_sheets_in_a_book_are_applied() -> None:
    chapter = "<link rel='stylesheet' href='css/a.css'/><p class='x'>secret</p><p>seen</p>"
    made = epub.make(book({"a.xhtml": chapter}, ["a"], {"OEBPS/css/a.css": ".x{display:none}"}))
    assert [made.text[one.start : one.end] for one in made.rendered.layout.marks] == ["secret"]
    assert made.rendered.cautions == ()
    made = epub.make(book({"a.xhtml": chapter, "b.xhtml": chapter}, ["a", "b"]))
    assert made.rendered.cautions == (ELSEWHERE,)


def test_what_people_see_of_a_page_is_without_hidden_text() -> None:
    made = make(f"<style>.x{{transform:scale(0)}}</style>{_AT}".encode())
    assert "secret" not in own_text(Document(made.text, made.rendered.layout))
