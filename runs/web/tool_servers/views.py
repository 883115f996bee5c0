"""MCP servers for administrators: their state, and asking one for its tools again."""

import logging

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.engine.mcp_listings import want
from runs.errors import InvalidInput
from runs.logs import about
from runs.people.permissions import is_administrator
from runs.web.site.requests import about_request
from runs.web.tool_servers.forms import ListAgainForm
from runs.web.tool_servers.presenter import ServersPage

log = logging.getLogger(__name__)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def servers_page(request: HttpRequest) -> HttpResponse:
    """A worker asks the server: that may take minutes, and nobody waits for it here. Raises Http404 for everybody who
    is no administrator (S4).
    """
    if not is_administrator(request.user):
        raise Http404
    if request.method != "POST":
        return render(request, "tool_servers/servers.html", {"page": ServersPage()})
    try:
        name = ListAgainForm(request.POST).checked()["server"]
    except InvalidInput as error:
        return render(request, "tool_servers/servers.html", {"page": ServersPage(), "problem": str(error)}, status=422)
    is_new = want(name)
    log.info(
        "MCP: %s %s",
        name,
        "is to be listed" if is_new else "was to be listed already",
        extra=about(**about_request(request)),
    )
    return redirect(f"{reverse('servers')}#server-{name}")
