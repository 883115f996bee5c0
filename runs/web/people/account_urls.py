"""The addresses below /account/: how a person signs in, and where. The names are those that allauth looks up."""

from allauth.account import views
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from runs.web.people import provider_pages, time_zone_page
from runs.web.people.mail_addresses import confirm_email, if_mail_is_sent
from runs.web.people.notices_page import new_notices, notices
from runs.web.people.sign_in_pages import asked_again_before, end_session

urlpatterns = [
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("again/", views.reauthenticate, name="account_reauthenticate"),
    path("notices/", notices, name="notices"),
    path("notices/new/", new_notices, name="new_notices"),
    path("password/", asked_again_before(views.password_change), name="account_change_password"),
    path("password/new/", asked_again_before(views.password_set), name="account_set_password"),
    path("methods/webauthn/", RedirectView.as_view(pattern_name="mfa_index"), name="mfa_list_webauthn"),  # listed there
    path("methods/", include("allauth.mfa.urls")),
    path("provider/connect/", provider_pages.connect, name="account_connect_provider"),
    path("provider/disconnect/", provider_pages.disconnect, name="account_disconnect_provider"),
    path("time-zone/", time_zone_page.time_zone, name="time_zone"),
    path("sessions/", include("allauth.usersessions.urls")),
    path("sessions/<int:session_id>/end/", end_session, name="account_end_session"),
    path("email/", if_mail_is_sent(views.email), name="account_email"),
    path("email/<str:key>/", if_mail_is_sent(confirm_email), name="account_confirm_email"),
    path("password/reset/", if_mail_is_sent(views.password_reset), name="account_reset_password"),
    path("password/reset/sent/", if_mail_is_sent(views.password_reset_done), name="account_reset_password_done"),
    path(
        "password/reset/done/",
        if_mail_is_sent(views.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
    re_path(  # the key has hyphens
        r"^password/reset/(?P<uidb36>[0-9a-z]{1,13})-(?P<key>[^/]{1,200})/$",
        if_mail_is_sent(views.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
]
