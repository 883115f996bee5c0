"""What a person decides at a gate: the form of an answer, and what is kept of one that was refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from django import forms
from django.http import QueryDict

from runs.enums import Verb
from runs.errors import InvalidInput
from runs.lifecycle import run_limits
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.gates.registry import type_of
from runs.models import Gate, User
from runs.readmodel.result_points import MAX_POINTS, points_in, sent_back
from runs.text.plural import pluralize, word_for
from runs.text.text_limits import too_long
from runs.web.gates.page_opening import seconds_on_page
from runs.web.site.posted_fields import PostedForm, Text, plain_lines

MAX_REASON = 20_000
"""As long as a request may be, because the planner or executor gets the reason as one."""
MAX_NOTE = 2_000
"""Characters beside one point of a result."""
MAX_CRITERIA = 100
"""Criteria that one answer may judge as met; no step has so many."""
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")
_CHOOSE = "Choose one of the buttons: approve, reject or stop."


class DecisionForm(PostedForm):
    """The answer to a gate. `budget` and `minutes` are new limits where the gate is about one; `no_sources`: a plan is
    answered as one for creative work; `choice` is one of the answers that a question suggests; `opening`: when the
    person opened the page (see `page_opening`); `why_met`: why criteria are judged as met (`met`).
    """

    verb = forms.TypedChoiceField(
        choices=[(verb.value, verb.value) for verb in Verb if verb is not Verb.GIVE_UP],
        coerce=Verb,
        error_messages={"required": _CHOOSE, "invalid_choice": _CHOOSE},
    )
    digest = Text(required=False)
    reason = Text(required=False, strip=False)
    choice = Text(required=False, max_length=200)
    budget = Text(required=False)
    minutes = Text(required=False)
    no_sources = forms.BooleanField(required=False)
    opening = Text(required=False)
    why_met = Text(required=False, strip=False)

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if problem := too_long(reason, MAX_REASON):
            raise forms.ValidationError(f"{problem} Say it more briefly.")
        return reason

    def clean(self) -> dict[str, Any]:
        sent = self.cleaned_data
        for number, note in self.notes.items() if "back" in self.data else ():
            if problem := too_long(note, MAX_NOTE, f"What you wrote about point {number}"):
                raise forms.ValidationError(problem)
        try:
            raised = run_limits.parse_limits(sent["budget"], sent["minutes"])
        except InvalidInput as error:
            raise forms.ValidationError(str(error)) from error
        return {**sent, **raised}

    @property
    def notes(self) -> dict[int, str]:
        """The points that are to be sent back, by number, each with what was noted beside it."""
        sent = cast("QueryDict", self.data)
        chosen = [int(number) for number in sent.getlist("back")[:MAX_POINTS] if _NUMBER.fullmatch(number)]
        noted = ((number, str(sent.get(f"note-{number}", ""))) for number in chosen)
        return {number: plain_lines(note) for number, note in noted}

    @property
    def met(self) -> frozenset[str]:
        """The labels of the criteria that the person judges as met."""
        return frozenset(cast("QueryDict", self.data).getlist("met")[:MAX_CRITERIA])

    @property
    def without_sources(self) -> bool:
        """Whether the box was ticked, for showing the form again."""
        return bool(self.data.get("no_sources"))

    @property
    def typed(self) -> str:
        """The reason, for showing the form again."""
        return plain_lines(str(self.data.get("reason", "")))

    @property
    def typed_why_met(self) -> str:
        return plain_lines(str(self.data.get("why_met", "")))

    def decision(self, gate: Gate | None = None, person: User | None = None) -> Decision:
        """The answer, with how long the person had the gate before them. Raises InvalidInput."""
        sent = self.checked()
        chosen = sent["choice"] if sent["verb"] is Verb.ANSWER else ""
        return Decision(
            sent["verb"],
            sent["digest"],
            f"{chosen}\n{sent['reason']}".strip() if chosen else sent["reason"],
            budget=sent["budget"],
            time_limit=sent["time_limit"],
            no_sources=sent["no_sources"] and sent["verb"] is not Verb.STOP,
            seconds_on_page=seconds_on_page(sent["opening"], gate, person) if gate and person else None,
            met=self.met,
            why_met=sent["why_met"] if self.met else "",
        )


def with_points(gate: Gate, decision: Decision, notes: Mapping[int, str]) -> Decision:
    """The decision, with the points of the result that are sent back as part of its words. `notes`: what was noted on
    each, by number. Raises InvalidInput for an approval, which would ignore them.
    """
    if not notes or decision.verb not in (Verb.APPROVE, Verb.REJECT):
        return decision
    if decision.verb is Verb.APPROVE:
        words = type_of(gate).wording_of(gate)
        count = len(notes)
        approve = f"{words.approve[:1].lower()}{words.approve[1:]}"
        raise InvalidInput(
            f"{pluralize(count, 'point is', 'points are')} ticked to be sent back, which “{words.reject}” does. "
            f"To {approve} all the same, take the {word_for(count, 'tick')} away."
        )
    points = points_in(gate.attempt).all if gate.attempt else ()
    return replace(decision, comments=(*decision.comments, *sent_back(points, notes)))


@dataclass(frozen=True)
class Problem:
    """A decision that was refused: what was wrong, and what the person had written. `gate` is 0 for none.

    `about_files`: files were given, and this is what became of them; `changed_nothing`: they were there already.
    `no_sources`: they had ticked that none are needed. `notes`: by number, the points they had chosen to send back.
    `met`: the criteria they had ticked as met, and `why_met` what they had written about these.
    """

    gate: int
    sentence: str
    reason: str
    no_sources: bool = False
    notes: Mapping[int, str] = field(default_factory=dict)
    about_files: bool = False
    changed_nothing: bool = False
    met: frozenset[str] = frozenset()
    why_met: str = ""
