"""The forms of what is started again: the token of the page, and the steps that are done again."""

from __future__ import annotations

import uuid

from django.http import QueryDict

from runs.models import Step
from runs.web.new_run.run_again_forms import AgainForm, TokenForm

TOKEN = uuid.UUID("0b9f2d6e-6a0c-4d7c-9d0e-2c9a3a1a7b11")
STEPS = [Step(key="two"), Step(key="one")]


def test_the_token_of_the_page_is_the_submission() -> None:
    assert TokenForm({"token": str(TOKEN)}).submission() == TOKEN


def test_without_a_token_that_can_be_read_every_post_is_its_own() -> None:
    made = [TokenForm({"token": sent}).submission() for sent in ("", "no token", "no token")]
    assert len(set(made)) == 3


def test_the_steps_of_the_plan_are_done_anew_and_others_ask_for_nothing() -> None:
    form = AgainForm(QueryDict(f"token={TOKEN}&redo=two&redo=of+another+plan&redo=one"), steps=STEPS)
    assert form.checked() == {"token": TOKEN, "all": False, "redo": ["one", "two"]}


def test_everything_may_be_done_again() -> None:
    assert AgainForm(QueryDict("all=on"), steps=STEPS).checked() == {"token": None, "all": True, "redo": []}
