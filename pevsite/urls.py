"""The root of all addresses, and the views for errors."""

from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.generic import RedirectView

from runs.admin import site
from runs.web.people.sign_in_pages import sign_out

sign_in = login_not_required(RedirectView.as_view(pattern_name="account_login", query_string=True))
urlpatterns = [
    path("", include("runs.web.urls")),
    path("admin/login/", sign_in),  # the admin's own, which these two go before, know passwords
    path("admin/logout/", sign_out),
    path("admin/", site.urls),
]
handler400 = "runs.web.site.error_views.bad_request"
handler500 = "runs.web.site.error_views.server_error"
