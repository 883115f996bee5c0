from django.http import HttpRequest, HttpResponse


def run_page(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")


def stop(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")


def pause(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")
