"""Files of a run over MCP: listed, and read one by one, in pieces no longer than they may be."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from mcp_types import BlobResourceContents, EmbeddedResource, TextContent

from runs.models import Tree
from runs.store import blobs
from runs.store.trees import files_of
from tests import factories as made
from tests.integration.web.mcp.asking import REVIEW, call, fields, refusal

pytestmark = pytest.mark.django_db(transaction=True)


def text_of(tree: Tree, path: str) -> str:
    return blobs.read(files_of(tree)[path].sha256).decode()


@pytest.mark.slow
def test_files_are_listed_and_read_as_text_and_as_bytes(token: str) -> None:
    run = made.finished_succeeded()
    listed = [(one["path"], one["change"]) for one in fields(call(token, "list_files", run=run.pk))["files"]]
    written = [path for path, change in listed if change == "new"]
    given = [path for path, change in listed if change == "given"]
    assert (listed[: len(written)], sorted(given)) == (
        [(path, "new") for path in written],
        sorted(files_of(run.inputs)),
    )
    before = {path: text_of(run.inputs, path) for path in given}
    piece = fields(call(token, "read_file", run=run.pk, path=given[0]))
    assert (piece["encoding"], piece["content"]) == ("text", before[given[0]])
    raw = fields(call(token, "read_file", run=run.pk, path=given[0], original=True))
    assert (raw["encoding"], base64.b64decode(raw["content"])) == ("base64", before[given[0]].encode())
    assert fields(call(token, "read_file", run=run.pk, path=written[0]))["content"] == text_of(run.head, written[0])
    assert "has no file" in refusal(call(token, "read_file", run=run.pk, path=written[0], version="given"))


@pytest.mark.slow
@pytest.mark.exhaustive
def test_bytes_come_piece_by_piece_and_no_further_than_the_end(token: str) -> None:
    data = bytes(range(256)) * 2_500
    given = {"path": "picture.bin", "base64": base64.b64encode(data).decode()}
    run = fields(call(token, "submit_run", **REVIEW | {"files": [*REVIEW["files"], given]}))["run"]
    first = fields(call(token, "read_file", run=run, path="picture.bin"))
    assert (first["encoding"], first["total"], first["next_offset"]) == ("base64", 640_000, 500_000)
    rest = fields(call(token, "read_file", run=run, path="picture.bin", offset=500_000))
    assert base64.b64decode(first["content"]) + base64.b64decode(rest["content"]) == data
    beyond = fields(call(token, "read_file", run=run, path="picture.bin", offset=2**52))
    assert (beyond["content"], beyond["next_offset"]) == ("", None)


@pytest.mark.slow
def test_a_piece_is_no_longer_than_asked_and_no_longer_than_it_may_be(token: str) -> None:
    long = {"path": "long.md", "text": "äx" * 70_000}
    run = fields(call(token, "submit_run", **REVIEW | {"files": [*REVIEW["files"], long]}))["run"]
    piece = fields(call(token, "read_file", run=run, path="long.md", offset=1, limit=4))
    assert (piece["content"], piece["total"], piece["next_offset"]) == ("xäxä", 140_000, 5)
    raw = fields(call(token, "read_file", run=run, path="long.md", original=True, limit=3))
    assert (base64.b64decode(raw["content"]), raw["total"], raw["next_offset"]) == ("äx".encode(), 210_000, 3)
    most = fields(call(token, "read_file", run=run, path="long.md", limit=500_000))
    assert (len(most["content"]), most["next_offset"]) == (100_000, 100_000)
    for limit in (0, 500_001, "all"):
        assert "limit: Input should be" in refusal(call(token, "read_file", run=run, path="long.md", limit=limit))


def test_bytes_are_a_resource_beside_the_words(token: str) -> None:
    path = "contracts/lease.md"
    run = fields(call(token, "submit_run", **REVIEW))["run"]
    result = call(token, "read_file", run=run, path=path, original=True)
    words, held = result.content
    assert isinstance(words, TextContent)
    assert isinstance(held, EmbeddedResource)
    assert isinstance(held.resource, BlobResourceContents)
    assert (held.resource.blob, held.resource.uri) == (fields(result)["content"], fields(result)["address"])
    assert held.resource.uri == f"http://testserver/runs/{run}/files/{path}"
    assert held.resource.blob not in words.text
    assert [block.type for block in call(token, "read_file", run=run, path=path).content] == ["text"]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_only_pictures_and_documents_that_are_whole_have_a_type(token: str) -> None:
    paths = ("a.png", "a.html", "a.svg", "a.js", "a.xlsx")
    sent = [{"path": path, "text": "<script>x</script>"} for path in paths]
    run = fields(call(token, "submit_run", **REVIEW | {"files": sent}))["run"]
    listed = fields(call(token, "list_files", run=run))["files"]

    def types(**more: Any) -> dict[str, str]:
        found = [one["path"] for one in listed]
        every = [fields(call(token, "read_file", run=run, path=path, original=True, **more)) for path in found]
        return {one["path"]: one["media_type"] for one in every}

    unknown = "application/octet-stream"
    sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert types() == dict(zip(paths, ("image/png", unknown, unknown, unknown, sheet), strict=True))
    assert set(types(limit=3).values()) == {unknown}


@pytest.mark.parametrize("path", ["../secret.key", "/etc/passwd", "contracts/../../x", "", "x" * 4_000, "💥"])
def test_a_path_leads_to_a_file_of_the_run_or_nowhere(token: str, path: str) -> None:
    run = made.finished_succeeded()
    said = refusal(call(token, "read_file", run=run.pk, path=path))
    assert "has no file" in said
    assert len(said) < 500
