"""Without a model: the form begins with the template that works, and only administrators read how to connect one."""

from __future__ import annotations

import pytest
from django.test import Client

from runs.models import User
from tests.integration.web.submitting import JSON, form

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_model")]
PAGES = ("/", "/runs/new/", "/help/", "/access-tokens/")


def test_the_form_begins_with_the_template_that_works(alice_client: Client) -> None:
    page = alice_client.get("/runs/new/").text
    assert '<option value="document-review" selected>' in page
    assert '<option value="" disabled>The planner writes it (needs a model)</option>' in page


def test_variables_of_the_environment_are_for_those_who_can_set_them(alice_client: Client) -> None:
    assert [page for page in PAGES if "ANTHROPIC_" in (text := alice_client.get(page).text) or "PEV_" in text] == []
    assert "Ask your administrator to connect a model." in alice_client.get("/runs/new/").text
    refused = alice_client.post("/runs/new/", form(), headers=JSON).json()["errors"]
    assert refused[0].endswith("so ask your administrator to connect one.")
    User.objects.filter(username="alice").update(is_superuser=True)
    assert "To connect a model, set a key (ANTHROPIC_API_KEY)" in alice_client.get("/runs/new/").text
    refused = alice_client.post("/runs/new/", form(), headers=JSON).json()["errors"]
    assert "so connect one: set a key (ANTHROPIC_API_KEY)" in refused[0]
