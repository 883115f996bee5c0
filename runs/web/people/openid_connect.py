"""What is asked of an OpenID Connect provider, and what is believed of its answers.

Allauth leads people there and back, with a state and a code verifier (PKCE) that their session keeps. It sends no
nonce, follows redirects, reads answers of any size, and checks no signature of a token that comes from the provider
itself. All of that is different here.
"""

from __future__ import annotations

import base64
import hashlib
import ssl
import time
from collections.abc import Mapping
from functools import cache as once
from http import HTTPStatus
from typing import Any, override
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx2
import jwt
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from allauth.socialaccount.providers.oauth2.utils import generate_code_challenge
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.urls import reverse

from runs.http_client.bounded_reading import ask
from runs.people.identity_provider import IdentityProvider
from runs.text.domains import is_kept_private

_SECONDS = 5.0
"""For each request to the provider, while a person waits."""
_MAX_BYTES = 1_000_000
"""Of each answer: ten thousand groups fit."""
_LEEWAY = 60
"""Seconds by which the clocks of both machines may differ."""
_KEPT_SECONDS = 300
"""How long the provider's configuration is not read again."""
_MAX_SUBJECT = 191
"""Characters that the column has."""
_MAX_NAME = 150
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a key pair. Without one, anyone who knows what this site knows could sign."""
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint")


class ProviderProblem(OAuth2Error):
    """Something is wrong with an answer. The message is for the log, and contains no secret."""


class ProviderUnreachable(ProviderProblem):
    """The provider does not answer, or with an error."""


class Untrusted(ProviderProblem):
    """It answers with something that proves nothing."""


def configured() -> IdentityProvider:
    """Raises SocialApp.DoesNotExist if the settings name no provider."""
    provider: IdentityProvider | None = settings.IDENTITY_PROVIDER
    if provider is None:
        raise SocialApp.DoesNotExist
    return provider


class TokenClient(OAuth2Client):
    @override
    def get_access_token(
        self, code: str, pkce_code_verifier: str | None = None, extra_data: object = None
    ) -> dict[str, Any]:
        """The provider's answer to the code with which a person has come back."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.callback_url,
            "code_verifier": pkce_code_verifier or "",
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if self.basic_auth:
            pair = f"{quote_plus(self.consumer_key)}:{quote_plus(self.consumer_secret)}"  # RFC 6749, section 2.3.1
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": self.consumer_key, "client_secret": self.consumer_secret}
        return _ask("POST", self.access_token_url, headers, urlencode(form).encode())


class ProviderConnection(OpenIDConnectOAuth2Adapter):
    """One sign-in of one person through the provider."""

    client_class = TokenClient
    _nonce = ""

    @property
    def openid_config(self) -> dict[str, Any]:
        """The provider's configuration, as far as it is used here."""
        url = configured().url
        key = f"openid/{hashlib.sha256(url.encode()).hexdigest()}"
        found = cache.get_or_set(key, lambda: _configuration(url), _KEPT_SECONDS)
        assert isinstance(found, dict)
        return found

    @override
    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """The one that the provider knows, which begins with the public address where the settings name it."""
        path = reverse("sign_in_provider_callback")
        return f"{settings.PUBLIC_URL}{path}" if settings.PUBLIC_URL else request.build_absolute_uri(path)

    @override
    def get_access_token_data(
        self, request: HttpRequest, app: SocialApp, client: OAuth2Client, pkce_code_verifier: str | None = None
    ) -> dict[str, Any]:
        self._nonce = _nonce_for(pkce_code_verifier or "")
        answer: dict[str, Any] = super().get_access_token_data(request, app, client, pkce_code_verifier)
        return answer

    @override
    def parse_token(self, data: Mapping[str, Any]) -> SocialToken:
        """Nothing is done with the token later, so that it is kept nowhere."""
        return SocialToken()

    @override
    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        """Who has signed in, from the signed token and what the provider says about them besides."""
        answer = kwargs["response"]
        claims = self._verified(answer.get("id_token"))
        if endpoint := self.openid_config.get("userinfo_endpoint"):
            access = answer.get("access_token")
            if not isinstance(access, str) or not access.isascii() or not access.isprintable():
                raise Untrusted("its answer has no access token")
            about = _ask("GET", endpoint, {"Authorization": f"Bearer {access}"})
            if about.get("sub") != claims["sub"]:
                raise Untrusted("it is about someone else than the person who has signed in")
            claims = about | claims
        login: SocialLogin = self.get_provider().sociallogin_from_response(request, claims)
        return login

    def _verified(self, token: object) -> dict[str, Any]:
        """The claims of an ID token: signed by the provider, for this site, for this sign-in, and not expired."""
        if not isinstance(token, str):
            raise Untrusted("its answer has no ID token")
        ours = configured().client_id
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key_of(token),
                algorithms=_ALGORITHMS,
                audience=ours,
                issuer=self.openid_config["issuer"],
                leeway=_LEEWAY,
                options={"require": ["iss", "sub", "aud", "exp", "iat", "nonce"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
            raise Untrusted(f"its ID token does not hold ({type(error).__name__})") from error
        if claims["nonce"] != self._nonce:
            raise Untrusted("its ID token belongs to another sign-in")
        if claims.get("azp", ours) != ours or (claims["aud"] not in (ours, [ours]) and "azp" not in claims):
            raise Untrusted("its ID token was issued to another program")
        subject = claims["sub"]
        if not (0 < len(subject) <= _MAX_SUBJECT and subject.isascii() and subject.isprintable()):
            raise Untrusted("its ID token has a subject that cannot be stored")
        return claims

    def _key_of(self, token: str) -> jwt.PyJWK:
        """The provider's key that the token names, or its only one."""
        key_id = jwt.get_unverified_header(token).get("kid")
        keys = jwt.PyJWKSet.from_dict(_ask("GET", self.openid_config["jwks_uri"])).keys
        found = [key for key in keys if key.public_key_use in (None, "sig") and key_id in (None, key.key_id)]
        if len(found) != 1:
            raise Untrusted("its ID token is signed with a key that it does not publish")
        return found[0]


class ConfiguredProvider(OpenIDConnectProvider):
    oauth2_adapter_class = ProviderConnection

    @override
    def get_pkce_params(self) -> dict[str, str]:
        """A nonce goes along. It follows from the verifier, which only the session of the person has."""
        pkce = generate_code_challenge()
        return {**pkce, "nonce": _nonce_for(pkce["code_verifier"])}

    @override
    def get_scope(self) -> list[str]:
        offered = self.get_oauth2_adapter(self.request).openid_config["scopes_supported"]
        return ["openid", "profile", *(["groups"] if "groups" in offered else [])]

    @override
    def extract_uid(self, data: Mapping[str, Any]) -> str:
        return str(data["sub"])

    @override
    def extract_extra_data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What is stored of the claims."""
        provider = configured()
        return {
            "name": _name_in(data),
            "roles": sorted(provider.roles_for(data.get(provider.groups_claim))),
            "signed_in_at": _time_in(data),
        }

    @override
    def extract_common_fields(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing else is taken over. An e-mail address connects no one with an account."""
        return {}

    @override
    def extract_email_addresses(self, data: Mapping[str, Any]) -> list[Any]:
        return []


def _name_in(claims: Mapping[str, Any]) -> str:
    """What the provider calls the person: the first of these that has anything to read."""
    for claim in ("preferred_username", "name"):
        text = claims.get(claim)
        if isinstance(text, str) and (
            readable := "".join(filter(str.isprintable, text[: 2 * _MAX_NAME])).strip()[:_MAX_NAME]
        ):
            return readable
    return ""


def _time_in(claims: Mapping[str, Any]) -> float | None:
    """When the person has signed in at the provider, in seconds since 1970; None if it does not say so."""
    said = claims.get("auth_time")
    is_time = isinstance(said, int | float) and not isinstance(said, bool) and 0 < said < time.time() + _LEEWAY
    return float(said) if is_time and said is not None else None


def _nonce_for(code_verifier: str) -> str:
    return hashlib.sha256(f"nonce for {code_verifier}".encode()).hexdigest()


def _configuration(url: str) -> dict[str, Any]:
    said = _ask("GET", f"{url.rstrip('/')}/.well-known/openid-configuration")
    issuer = said.get("issuer")
    if not isinstance(issuer, str) or issuer.rstrip("/") != url.rstrip("/"):
        raise Untrusted("its configuration belongs to another issuer than the one in PEV_OIDC_URL")
    found: dict[str, Any] = {"issuer": issuer}
    for name in _ENDPOINTS:
        address = said.get(name)
        if address is None and name == "userinfo_endpoint":
            continue
        if not isinstance(address, str) or not is_kept_private(address):
            raise Untrusted(f"its configuration has no {name} with https")
        found[name] = address
    for name in ("scopes_supported", "token_endpoint_auth_methods_supported"):
        found[name] = listed if isinstance(listed := said.get(name), list) else []
    return found


def _ask(
    method: str, address: str, headers: Mapping[str, str] | None = None, content: bytes | None = None
) -> dict[str, Any]:
    """The object with which the provider answers. Raises ProviderProblem."""
    place = urlsplit(address).path
    try:
        answer = ask(
            method,
            address,
            headers={"Accept": "application/json", **(headers or {})},
            content=content,
            seconds=_SECONDS,
            max_bytes=_MAX_BYTES,
            tls=_tls(),
        )
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ProviderUnreachable(f"{place} does not answer ({type(error).__name__})") from error
    try:
        said = answer.json()
    except (ValueError, RecursionError):
        said = None
    if answer.status_code not in {HTTPStatus.OK, HTTPStatus.CREATED}:
        code = said.get("error") if isinstance(said, dict) else None
        named = code if isinstance(code, str) and code.isidentifier() and code.isascii() and len(code) <= 40 else ""
        raise ProviderUnreachable(f"{place} answers with {answer.status_code} {named}".rstrip())
    if not isinstance(said, dict):
        raise Untrusted(f"{place} answers with something other than an object")
    return said


@once
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()  # takes 20 ms
