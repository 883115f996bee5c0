"""The pages of agents: the list, and the form of one, which administrators fill in."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from pydantic import ValidationError

from runs.errors import InvalidInput
from runs.lifecycle import available_agents
from runs.lifecycle.toolset import tool_names
from runs.logs import about
from runs.models import Agent
from runs.pev.agents import MAX_INSTRUCTIONS, AgentDefinition
from runs.web.site.posted_fields import Text
from runs.web.site.requests import about_request, administrators_only, person

log = logging.getLogger(__name__)
_EFFORTS = [("", "As the policy of the run says"), ("low", "Low"), ("medium", "Medium"), ("high", "High")]


class AgentForm(forms.Form):
    """`definition()` once it is valid. `seen`: the version that the page was filled with."""

    name = Text(
        label="Name",
        max_length=60,
        help_text="Small letters, digits and hyphens. Plans use this name. It cannot be changed later.",
        error_messages={"required": "Give the agent a name."},
    )
    purpose = Text(
        label="What it is for",
        max_length=400,
        help_text="One sentence. Planners choose the agent by it.",
        error_messages={"required": "Say in a sentence what the agent is for."},
    )
    instructions = Text(
        label="Instructions",
        max_length=MAX_INSTRUCTIONS,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="How such a step is done. They add to the rules of the executor and cannot override them.",
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
            return AgentDefinition.model_validate(given)
        except ValidationError as error:
            raise InvalidInput("These instructions cannot be used; write them again.") from error


@never_cache
@require_safe
@administrators_only
def agents_page(request: HttpRequest) -> HttpResponse:
    """The list of agents."""
    return render(
        request,
        "agents/agents.html",
        {"agents": available_agents.all_agents(), "sample": available_agents.SAMPLE_AGENT},
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
def new_agent(request: HttpRequest) -> HttpResponse:
    """An empty form, or with `?sample` one with the agent that comes with pevsite. A post adds it."""
    user = person(request)
    if request.method != "POST":
        filled = (
            AgentForm.of(available_agents.sample_agent(), available_agents.SAMPLE_AGENT)
            if "sample" in request.GET
            else AgentForm()
        )
        return render(request, "agents/agent.html", {"form": filled})
    form = AgentForm.posted(request.POST)
    if not form.is_valid():
        return render(request, "agents/agent.html", {"form": form}, status=422)
    name = form.cleaned_data["name"]
    try:
        available_agents.add_agent(user, name, form.definition())
    except InvalidInput as error:
        return render(request, "agents/agent.html", {"form": form, "problem": str(error)}, status=422)
    return _done(request, f"The agent {name} is saved. New plans can name it.", "added", name)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
def agent_page(request: HttpRequest, name: str) -> HttpResponse:
    """An agent. A post changes it, unless somebody else did since the page was loaded."""
    user, agent = person(request), get_object_or_404(Agent.objects.select_related("changed_by"), name=name)
    if request.method != "POST":
        form = AgentForm.of(agent.definition, name, agent.changed_at.isoformat())
        return render(request, "agents/agent.html", {"form": form, "agent": agent})
    form = AgentForm.posted(request.POST, agent)
    if not form.is_valid():
        return render(request, "agents/agent.html", {"form": form, "agent": agent}, status=422)
    try:
        available_agents.edit_agent(user, agent, form.definition(), form.cleaned_data["seen"])
    except InvalidInput as error:
        return render(request, "agents/agent.html", {"form": form, "agent": agent, "problem": str(error)}, status=422)
    return _done(request, f"The agent {name} was changed. Plans that name it need approval again.", "changed", name)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
def delete_agent(request: HttpRequest, name: str) -> HttpResponse:
    """Ask whether to delete an agent. A post deletes it. Attempts keep their copy of it."""
    user, agent = person(request), get_object_or_404(Agent, name=name)
    if request.method != "POST":
        return render(request, "agents/delete_agent.html", {"agent": agent})
    available_agents.delete_agent(user, agent)
    return _done(request, f"The agent {name} was deleted. Plans that name it cannot be approved.", "deleted", name)


def _done(request: HttpRequest, sentence: str, verb: str, name: str) -> HttpResponse:
    messages.success(request, sentence)
    log.info("agents: %s “%s”", verb, name, extra=about(**about_request(request)))
    return redirect("agents")
