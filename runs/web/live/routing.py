"""The addresses of the sockets."""

from typing import Any

from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from runs.web.live.consumer import RunConsumer

websocket_urlpatterns: list[Any] = [
    path("ws/runs/<int:run_id>/", RunConsumer.as_asgi()),
    re_path(r"", WebsocketDenier.as_asgi()),
]
