from django.http import HttpRequest, HttpResponse


def inbox(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")
