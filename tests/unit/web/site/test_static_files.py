"""Static files: hashed names that are kept, others that are asked for again, compressed once, and nothing else."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.finders import find
from django.core.handlers.asgi import ASGIHandler
from django.http import Http404, HttpResponse
from django.templatetags.static import static
from django.test import RequestFactory

from runs.web.site.static_files import ASK_FIRST, FOR_EVER, StaticFiles, file_of, hashed
from tests.installation import ROOT

RUN_CSS = "/static/css/run/run.css"


def got(path: str, **headers: str) -> HttpResponse:
    return StaticFiles(ASGIHandler()).serve(RequestFactory(headers=headers).get(path))


def content() -> bytes:
    place = find("css/run/run.css")
    assert place is not None
    return Path(place).read_bytes()


def test_names_in_pages_change_with_the_content() -> None:
    assert re.fullmatch(r"/static/css/run/run\.[0-9a-f]{16}\.css", static("css/run/run.css"))
    assert static("css/run/run.css") != static("css/base.css").replace("base", "run/run")
    assert static("admin/css/base.css").startswith("/static/admin/css/base.")


def test_what_is_hashed_is_kept_for_ever_and_is_the_file() -> None:
    answer = got(static("css/run/run.css"))
    assert (answer.content, answer["Cache-Control"]) == (content(), FOR_EVER)
    assert answer["Content-Type"] == "text/css; charset=utf-8"


@pytest.mark.parametrize("path", [RUN_CSS, "/static/css/run/run.0123456789abcdef.css"])
def test_names_without_or_with_another_hash_are_asked_for_each_time(path: str) -> None:
    answer = got(path)
    assert (answer.content, answer["Cache-Control"]) == (content(), ASK_FIRST)


@pytest.mark.parametrize("accepts", ["gzip", "br, gzip;q=0.8", "gzip, deflate"])
def test_texts_are_sent_compressed_to_those_who_can_read_it(accepts: str) -> None:
    answer = got(RUN_CSS, Accept_Encoding=accepts)
    assert (answer["Content-Encoding"], answer["Vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(answer.content) == content()
    assert len(answer.content) < len(content()) / 2


@pytest.mark.parametrize("accepts", ["", "br", "gzip;q=0", "gzip; q=0.0, br", "xgzip"])
def test_others_get_them_as_they_are(accepts: str) -> None:
    answer = got(RUN_CSS, Accept_Encoding=accepts)
    assert "Content-Encoding" not in answer.headers
    assert answer.content == content()


@pytest.mark.parametrize("accepts", ["", "gzip"])
def test_who_has_it_is_not_sent_it_again(accepts: str) -> None:
    etag = got(RUN_CSS, Accept_Encoding=accepts)["ETag"]
    again = got(RUN_CSS, Accept_Encoding=accepts, If_None_Match=etag)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    other = got(RUN_CSS, Accept_Encoding="" if accepts else "gzip", If_None_Match=etag)
    assert other.status_code == 200, "the two forms have etags of their own"


@pytest.mark.parametrize(
    "path",
    [
        "/static/",
        "/static/css/",
        "/static/nowhere.css",
        "/static/nowhere.0123456789abcdef.css",
        "/static/../pevsite/settings.py",
        "/static/%2e%2e/pevsite/settings.py",
        "/static/..%2fpevsite%2fsettings.0123456789abcdef.py",
        "/static//etc/passwd",
        "/static/\0",
        "/static/" + "a" * 5_000,
    ],
)
def test_nothing_else_is_served(path: str) -> None:
    with pytest.raises(Http404):
        got(path)


def test_a_file_that_changes_has_another_name(tmp_path: Path, settings: Any) -> None:
    settings.STATICFILES_DIRS = [tmp_path]
    settings.DEBUG = True  # places are looked up each time
    one = tmp_path / "one-of-this-test.css"
    one.write_text("a {}")
    before = hashed(one.name)
    one.write_text("b { color: red }")
    assert hashed(one.name) != before
    assert hashed("not-there.css") == "not-there.css"
    assert file_of("not-there.css") is None


def test_a_module_imports_hashed_names_and_changes_with_what_it_imports(tmp_path: Path, settings: Any) -> None:
    settings.STATICFILES_DIRS = [tmp_path]
    settings.DEBUG = True  # places are looked up each time
    (tmp_path / "js" / "area-of-this-test").mkdir(parents=True)
    page, part, base = (
        tmp_path / "js" / name for name in ("area-of-this-test/page.js", "part-of-this-test.js", "b.js")
    )
    source = 'import {\n  one,\n} from "../part-of-this-test.js";\nimport "./none.js";\nsay(`from "./b.js";`);\n'
    page.write_text(source)
    part.write_text('import { two } from "./b.js";\nexport const one = two;\n')
    base.write_text("export const two = 2;\n")
    before = hashed("js/area-of-this-test/page.js")
    sent = file_of("js/area-of-this-test/page.js")
    name = hashed("js/part-of-this-test.js").removeprefix("js/")
    assert sent is not None
    assert sent.content.decode() == source.replace("../part-of-this-test.js", f"./../{name}")
    base.write_text("export const two = 3;\n")
    assert hashed("js/part-of-this-test.js").removeprefix("js/") != name
    assert hashed("js/area-of-this-test/page.js") != before


def test_every_import_of_the_modules_is_hashed() -> None:
    modules = sorted((ROOT / "static" / "js").rglob("*.js"))
    for path in modules:
        file = file_of(str(path.relative_to(ROOT / "static")))
        assert file is not None
        found = re.findall(r'^(?:import|export|\}).*"(\.[^"]*)";$', file.content.decode(), re.MULTILINE)
        assert [name for name in found if not re.search(r"\.[0-9a-f]{16}\.js$", name)] == [], path
        assert re.findall(r"(?<!\{)\bimport\(", file.content.decode()) == [], "an import in an expression is not hashed"
    assert len(modules) > 20
