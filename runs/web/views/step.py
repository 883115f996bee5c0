from django.http import HttpRequest, HttpResponse


def step_page(request: HttpRequest, **kw: object) -> HttpResponse:
    return HttpResponse("")
