"""Operations that will end say so, to programs in headers and to people in the reference."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from django.http import Http404, HttpRequest, HttpResponse
from django.test import RequestFactory
from ninja import Router

from runs.enums import TokenScope
from runs.web.api.api import PevApi
from runs.web.api.deprecation import deprecated
from runs.web.api.tokens import AccessTokenAuth
from tests import factories as made
from tests.integration.web.api.asking import program_of

pytestmark = pytest.mark.django_db
READS = AccessTokenAuth(TokenScope.RUNS_READ)


@pytest.fixture
def api() -> PevApi:
    router = Router()

    @router.get("/lines/{int:number}", auth=READS, response=list[int], summary="List lines")
    @deprecated(since=date(2027, 3, 1), ends=date(2027, 9, 1), instead="Use “Read a run”.")
    def list_lines(request: HttpRequest, response: HttpResponse, number: int) -> list[int]:
        """The lines of a run."""
        if not number:
            raise Http404
        response.headers["Link"] = '</lines/2>; rel="next"'
        return [number]

    @router.get("/rows", auth=READS, response=list[int], summary="List rows")
    def list_rows(request: HttpRequest) -> list[int]:
        return [1]

    api = PevApi(urls_namespace="test-deprecation", docs_url=None, openapi_url=None)
    api.exception_handler(Http404)(lambda request, error: HttpResponse(status=404))
    api.add_router("", router)
    return api


def ask(api: PevApi, name: str, **values: Any) -> Any:
    (view,) = (one.callback for one in api.bind_patterns() if one.name == name)
    token = program_of(made.alice()).token
    return view(RequestFactory().get("/", headers={"Authorization": f"Bearer {token}"}), **values)


def test_every_answer_says_since_when_until_when_and_where_to_read_on(api: PevApi) -> None:
    answer = ask(api, "list_lines", number=1)
    assert (answer.status_code, answer.content) == (200, b"[1]")
    assert answer["Deprecation"] == "@1803859200"
    assert answer["Sunset"] == "Wed, 01 Sep 2027 00:00:00 GMT"
    assert answer["Link"] == ('</lines/2>; rel="next", </api/docs/#list_lines>; rel="deprecation"; type="text/html"')


def test_a_refusal_says_it_too(api: PevApi) -> None:
    answer = ask(api, "list_lines", number=0)
    assert (answer.status_code, answer["Deprecation"]) == (404, "@1803859200")
    assert answer["Link"] == '</api/docs/#list_lines>; rel="deprecation"; type="text/html"'


def test_the_description_says_it_and_those_of_other_operations_do_not(api: PevApi) -> None:
    paths = api.get_openapi_schema(path_prefix="")["paths"]
    lines, rows = paths["/lines/{number}"]["get"], paths["/rows"]["get"]
    assert lines["deprecated"] is True
    assert lines["description"] == (
        "**Deprecated** since 2027-03-01, and answered until 2027-09-01. Use “Read a run”.\n\nThe lines of a run."
    )
    assert "deprecated" not in rows
    assert not {"Deprecation", "Sunset", "Link"} & set(ask(api, "list_rows").headers)


def test_an_operation_does_not_end_earlier_than_is_promised() -> None:
    with pytest.raises(ValueError, match="for at least 183 days"):
        deprecated(since=date(2027, 3, 1), ends=date(2027, 8, 30), instead="Use “Read a run”.")
