"""The form of an agent, as administrators fill it in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from pydantic import ValidationError

from runs.errors import InvalidInput
from runs.lifecycle.toolset import tool_names
from runs.models import Agent
from runs.pev.agents import MAX_INSTRUCTIONS, AgentDefinition
from runs.web.site.posted_fields import Text

_EFFORTS = [("", "As the policy of the run says"), ("low", "Low"), ("medium", "Medium"), ("high", "High")]


class AgentForm(forms.Form):
    """`definition()` once it is valid. `seen`: the version that the page was filled with."""

    name = Text(
        label="Name",
        max_length=60,
        help_text="Small letters, digits and hyphens. Plans name it so, and it stays.",
        error_messages={"required": "Give the agent a name."},
    )
    purpose = Text(
        label="What it is for",
        max_length=400,
        help_text="One sentence. Planners read it to choose the agent, people to know it.",
        error_messages={"required": "Say in a sentence what the agent is for."},
    )
    instructions = Text(
        label="Instructions",
        max_length=MAX_INSTRUCTIONS,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="How such a step is done. They add to the rules of executors and cannot take one of them away.",
        error_messages={"required": "Write the instructions."},
    )
    model = Text(
        label="Model",
        max_length=120,
        required=False,
        help_text="If left empty, the executor’s model of the run",
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
    effort = forms.ChoiceField(label="Effort", choices=_EFFORTS, required=False)
    tools = forms.MultipleChoiceField(
        label="May use at most",
        widget=forms.CheckboxSelectMultiple,
        required=False,
        error_messages={"invalid_choice": "There is no tool “%(value).60s”."},
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *given: Any, there: Iterable[str] = (), **options: Any) -> None:
        """`there`: the tools of the agent, which the installation may no longer have."""
        super().__init__(*given, **options)
        names = sorted({*tool_names(), *there})
        self.fields["tools"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]

    @classmethod
    def of(cls, definition: AgentDefinition, name: str = "", seen: str = "") -> AgentForm:
        """The form filled with an agent."""
        return cls(initial={**definition.model_dump(), "name": name, "seen": seen}, there=definition.tools)

    @classmethod
    def posted(cls, data: Any, agent: Agent | None = None) -> AgentForm:
        """The posted form. The name of an `agent` that is changed stays."""
        form = cls(data, there=agent.definition.tools if agent else ())
        if agent:
            del form.fields["name"]
        return form

    def definition(self) -> AgentDefinition:
        """The definition. Raises InvalidInput for something that the form allows but an agent does not."""
        given = {name: self.cleaned_data[name] for name in AgentDefinition.model_fields}
        try:
            return AgentDefinition.model_validate({**given, "instructions": _lines(given["instructions"])})
        except ValidationError as error:
            raise InvalidInput("These instructions cannot be used; write them again.") from error


def _lines(text: str) -> str:
    """The text with plain line ends: browsers send two characters for each."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
