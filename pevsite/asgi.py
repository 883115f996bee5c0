"""The ASGI application: pages, static files, and sockets, which only signed-in people and pages of this site open."""

import os

from pevsite import installation
from pevsite.environment import read_environment

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pevsite.settings")
environment = read_environment()
# Here, before the settings are read, because another server than `serve` may start the application.
installation.prepare(environment.data_dir, with_key=not environment.secret_key)

import django
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter

django.setup(set_prefix=False)  # before anything else is imported

from runs.web.api.event_stream import WithEventStreams
from runs.web.live.consumer import websocket_urlpatterns
from runs.web.mcp.endpoint import WithMcp
from runs.web.site.handler import PagesHandler
from runs.web.site.headers import WithHeaders
from runs.web.site.same_origin import SameOrigin
from runs.web.site.static_files import StaticFiles

application = ProtocolTypeRouter(
    {
        "http": WithHeaders(WithMcp(WithEventStreams(StaticFiles(PagesHandler())))),
        "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
