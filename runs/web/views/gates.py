from django.http import HttpRequest, HttpResponse


def decide(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")
