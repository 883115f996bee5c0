"""What every page knows: who answers the model calls."""

from django.http import HttpRequest

from runs.lifecycle.defaults import current_service


def installation(request: HttpRequest) -> dict[str, object]:
    return {"service": current_service()}
