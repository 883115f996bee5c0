from django.http import HttpRequest, HttpResponse


def new_run(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")


def run_sample(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")
