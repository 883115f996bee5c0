"""How requests reach the views: each in one thread, from the first middleware to the view and back."""

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class PagesHandler(ASGIHandler):
    """Every view is synchronous, and so is some middleware. Django's handler would go back to the event loop between
    them in each request. That takes time, and may log an error when a browser leaves (asgiref, issue 491).
    """

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = await sync_to_async(self.get_response)(request)
        return response
