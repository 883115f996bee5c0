"""Links of the OpenAPI document, from an answer to the operations about what it names."""

from __future__ import annotations

from typing import Any

from runs.web.api.documentation import document

PATHS = document()["paths"]


def links(method: str, path: str, status: str) -> dict[str, Any]:
    found: dict[str, Any] = PATHS[f"/api/v1{path}"][method]["responses"][status]["links"]
    return found


def test_a_new_run_is_linked_with_the_operations_about_it() -> None:
    found = links("post", "/runs", "201")
    assert found["read_status"] == {"operationId": "read_status", "parameters": {"run_id": "$response.body#/run"}}
    assert {"read_run", "stop_run", "list_files"} <= found.keys()
    assert not {"read_gate", "read_step", "submit_run"} & found.keys()


def test_a_decision_is_linked_with_its_answer_which_sends_its_fingerprint_back() -> None:
    body = {"verb": "approve", "fingerprint": "$response.body#/fingerprint"}
    assert links("get", "/gates/{gate_id}", "200")["decide"] == {
        "operationId": "decide",
        "parameters": {"gate_id": "$request.path.gate_id"},
        "requestBody": body,
    }
    assert links("get", "/gates", "200")["decide"] == {
        "operationId": "decide",
        "parameters": {"gate_id": "$response.body#/gates/0/gate"},
        "requestBody": body | {"fingerprint": "$response.body#/gates/0/fingerprint"},
    }


def test_a_page_is_linked_with_the_next_and_lines_with_what_they_name() -> None:
    assert links("get", "/runs/{run_id}/audit", "200") == {
        "next_page": {
            "operationId": "read_audit_trail_of_run",
            "parameters": {"run_id": "$request.path.run_id", "cursor": "$response.body#/next"},
        }
    }
    assert links("get", "/runs/{run_id}/files", "200")["download_file"]["parameters"] == {
        "run_id": "$request.path.run_id",
        "path": "$response.body#/files/0/path",
    }
