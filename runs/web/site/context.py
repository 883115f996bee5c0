"""The context of every page: who answers the model calls, whether programs may connect, and the version."""

from django.conf import settings
from django.http import HttpRequest

from pevsite.installation import version
from runs.submission.policy_defaults import current_service


def installation(request: HttpRequest) -> dict[str, object]:
    return {"service": current_service(), "version": version(), "mcp_server": settings.MCP_SERVER}
