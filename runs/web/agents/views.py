"""Agents, for administrators: the list, adding, changing and deleting."""

import logging

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from runs.errors import InvalidInput
from runs.lifecycle import available_agents
from runs.logs import about
from runs.models import Agent, User
from runs.people.permissions import is_administrator
from runs.web.agents.forms import AgentForm
from runs.web.site.requests import about_request, person

log = logging.getLogger(__name__)


@never_cache
@require_safe
def agents_page(request: HttpRequest) -> HttpResponse:
    """The list of agents."""
    _administrator(request)
    return render(
        request,
        "agents/agents.html",
        {"agents": available_agents.all_agents(), "sample": available_agents.SAMPLE_AGENT},
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new_agent(request: HttpRequest) -> HttpResponse:
    """An empty form, or with `?sample` one with the agent that comes with pevsite. A post adds it."""
    user = _administrator(request)
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
    return _done(request, f"The agent {name} is there. New plans may name it.", "added", name)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def agent_page(request: HttpRequest, name: str) -> HttpResponse:
    """An agent. A post changes it, unless somebody else did since the page was loaded."""
    user, agent = _administrator(request), get_object_or_404(Agent.objects.select_related("changed_by"), name=name)
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
    return _done(request, f"The agent {name} is changed. Plans that name it are asked about again.", "changed", name)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete_agent(request: HttpRequest, name: str) -> HttpResponse:
    """Ask whether to delete an agent. A post deletes it. Attempts keep their copy of it."""
    user, agent = _administrator(request), get_object_or_404(Agent, name=name)
    if request.method != "POST":
        return render(request, "agents/delete_agent.html", {"agent": agent})
    available_agents.delete_agent(user, agent)
    return _done(request, f"The agent {name} is deleted. Plans that name it cannot be approved.", "deleted", name)


def _done(request: HttpRequest, sentence: str, verb: str, name: str) -> HttpResponse:
    messages.success(request, sentence)
    log.info("agents: %s “%s”", verb, name, extra=about(**about_request(request)))
    return redirect("agents")


def _administrator(request: HttpRequest) -> User:
    """Raises Http404 for everybody else: they find no such page (S4)."""
    if not is_administrator(request.user):
        raise Http404
    return person(request)
