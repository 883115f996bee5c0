"""Owns the addresses of the sockets."""
from typing import Any
websocket_urlpatterns: list[Any] = []
def SameOrigin(app: Any) -> Any:
    return app
