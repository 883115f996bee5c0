from django.http import HttpRequest, HttpResponse


def report_page(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")


def report_markdown(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")


def files_zip(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")
