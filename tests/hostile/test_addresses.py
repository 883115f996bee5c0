"""Every address: the names that it answers to, and whose markup it shows."""

from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import pytest
from django.apps import apps
from django.db import models

from runs.models import AuditEntry
from runs.models.fields import ContractField
from tests.hostile.fuzzing.attack import Site
from tests.hostile.fuzzing.surface import addresses

pytestmark = pytest.mark.slow

SCRIPT = "<script>alert(1)</script> <img src=x onerror=alert(1)>"


@pytest.fixture
def paths(site: Site) -> list[str]:
    """A path for each address; most lead somewhere."""
    real = site.real[0] | {"token": "of-nobody", "url": "nowhere"}
    return [one.path({name: quote(real.get(name, "1")) for name, _ in one.parameters}) for one in addresses()]


def test_no_address_answers_to_a_name_that_is_not_ours(site: Site, paths: list[str]) -> None:
    client = site.people["owner"]
    named = [path for path in paths if path not in {"/healthz", "/readyz"}]  # which say nothing of the site
    asked = [(path, client.get(path, headers={"host": "evil.example"})) for path in named]
    assert [path for path, answer in asked if answer.status_code != HTTPStatus.BAD_REQUEST] == []
    forwarded = client.get("/", headers={"x-forwarded-host": "evil.example"})
    assert (forwarded.status_code, "evil.example" in forwarded.text) == (HTTPStatus.OK, False)


def test_no_text_of_anybody_becomes_markup_on_any_page(site: Site) -> None:
    changed = _replace_texts()
    assert changed > 100
    site.crawl()
    assert [path for path, page in site.pages.items() if "<script>alert" in page or "<img src=x" in page] == []
    shown = [path for path, page in site.pages.items() if "&lt;script&gt;alert" in page]
    assert len(shown) > 30


def _replace_texts() -> int:
    """Put a script into every text of every row, in columns and in JSON; says into how many."""
    changed = 0
    for model in set(apps.get_app_config("runs").get_models()) - {AuditEntry}:  # whose lines cannot be changed
        for field in model._meta.concrete_fields:
            if field.name in {"password", "key"}:  # sessions are bound to it; a notice is known by its key
                continue
            for row in model._default_manager.exclude(**{f"{field.name}__isnull": True}):
                value = getattr(row, field.attname)
                hostile = _hostile(field, value)
                if hostile is not None and hostile != value:
                    model._default_manager.filter(pk=row.pk).update(**{field.name: hostile})
                    changed += 1
    return changed


def _hostile(field: "models.Field[Any, Any]", value: Any) -> Any:
    """The value with a script in its texts; None for a column that holds names, digests and numbers."""
    if isinstance(field, ContractField):
        return _in_json(field._adapter.dump_python(value, mode="json"))
    if isinstance(field, models.JSONField):
        return _in_json(value)
    is_text = isinstance(field, models.TextField) or (field.max_length or 0) >= 100
    return SCRIPT if is_text and value and isinstance(value, str) and not field.unique else None


def _in_json(value: Any) -> Any:
    """Prose is what has spaces; names, ids and paths have none."""
    if isinstance(value, dict):
        return {name: _in_json(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_in_json(inner) for inner in value]
    return SCRIPT if isinstance(value, str) and " " in value and "/" not in value else value
