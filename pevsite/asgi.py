"""Owns the ASGI application: pages, static files, and sockets of signed-in people from this very site."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pevsite.settings")

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application

pages = get_asgi_application()

from runs.web.routing import SameOrigin, websocket_urlpatterns

application = ProtocolTypeRouter(
    {
        "http": ASGIStaticFilesHandler(pages),
        "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
