"""Owns the root of the URL space, and who answers what no page takes."""

from django.urls import include, path

urlpatterns = [path("", include("runs.web.urls"))]
handler400 = "runs.web.views.errors.bad_request"
