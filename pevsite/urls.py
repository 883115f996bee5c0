"""Owns the root of the URL space."""

from django.urls import include, path

urlpatterns = [path("", include("runs.web.urls"))]
