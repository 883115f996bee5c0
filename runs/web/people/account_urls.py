"""The addresses below /account/: how a person signs in, and where. The names are those that allauth looks up."""

from allauth.account import views
from django.conf import settings
from django.urls import include, path
from django.views.generic import RedirectView

from runs.web.people.sign_in_pages import end_session

urlpatterns = [
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("again/", views.reauthenticate, name="account_reauthenticate"),
    path("password/", views.password_change, name="account_change_password"),
    path("password/new/", views.password_set, name="account_set_password"),
    path("methods/webauthn/", RedirectView.as_view(pattern_name="mfa_index"), name="mfa_list_webauthn"),  # listed there
    path("methods/", include("allauth.mfa.urls")),
    path("sessions/", include("allauth.usersessions.urls")),
    path("sessions/<int:session_id>/end/", end_session, name="account_end_session"),
]
if settings.SENDS_MAIL:
    urlpatterns += [
        path("again/code/", views.request_reauthentication_code, name="account_request_reauthentication_code"),
        path("again/code/confirm/", views.confirm_reauthentication_code, name="account_confirm_reauthentication_code"),
        path("email/", views.email, name="account_email"),
        path("email/sent/", views.email_verification_sent, name="account_email_verification_sent"),
        path("email/<str:key>/", views.confirm_email, name="account_confirm_email"),
        path("password/reset/", views.password_reset, name="account_reset_password"),
        path("password/reset/sent/", views.password_reset_done, name="account_reset_password_done"),
        path("password/reset/done/", views.password_reset_from_key_done, name="account_reset_password_from_key_done"),
        path(
            "password/reset/<str:uidb36>-<str:key>/",
            views.password_reset_from_key,
            name="account_reset_password_from_key",
        ),
    ]
