from django.http import HttpRequest, HttpResponse


def file_page(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")
