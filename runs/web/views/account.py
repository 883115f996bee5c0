from django.http import HttpRequest, HttpResponse


def sign_in(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")


def sign_in_link(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")


def sign_out(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")
