"""What can be asked: every address with its parameters, every form that a page shows, every name in a query."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from random import Random
from urllib.parse import quote, urlsplit

from django.forms import Form
from django.urls import URLPattern, URLResolver, get_resolver

import runs
from runs import web
from runs.web.site.addresses import API_PATH
from tests.hostile.fuzzing import values

type Fields = dict[str, list[str]]

_PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")
_QUERIED = re.compile(r"""[?&;](\w+)=(?=[^"'<> ]*["'])""")
_GROUP = re.compile(r"\(\?P<(\w+)>[^)]*\)")


@dataclass(frozen=True)
class Address:
    """`route` as the URL configuration has it; `parameters` in order, each with the name of its converter."""

    route: str
    parameters: tuple[tuple[str, str], ...]

    @property
    def is_admin(self) -> bool:
        return self.route.startswith("admin/")

    def path(self, arguments: Mapping[str, str]) -> str:
        """The path with these arguments, which are percent-encoded already."""
        filled = _PARAMETER.sub(lambda match: arguments[match[2]], self.route)
        return "/" + _GROUP.sub(lambda match: arguments[match[1]], filled)


def addresses() -> list[Address]:
    """Those of pages. The operations of the REST API are in its OpenAPI document."""
    return [one for one in _addresses(get_resolver(), "") if not one.route.startswith(API_PATH.lstrip("/"))]


def _addresses(resolver: URLResolver, prefix: str) -> Iterator[Address]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern).removeprefix("^").removesuffix("$").replace(r"\Z", "")
        if isinstance(pattern, URLResolver):
            yield from _addresses(pattern, route)
        elif isinstance(pattern, URLPattern):
            named = [(match[2], match[1] or "str") for match in _PARAMETER.finditer(route)]
            named += [(match[1], "str") for match in _GROUP.finditer(_PARAMETER.sub("", route))]
            yield Address(route, tuple(named))


def query_names() -> list[str]:
    """Every name that a view asks of `request.GET`."""
    names = set()
    for module in Path(runs.__file__).parent.rglob("web/**/*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Call | ast.Compare | ast.Subscript) and "request.GET" in ast.unparse(node):
                names |= {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
    return sorted(name for name in names if isinstance(name, str) and name.isidentifier())


def names_in_links(page: str) -> set[str]:
    """The names in the queries of a page's links."""
    return {*_QUERIED.findall(page)}


@cache
def field_names() -> list[str]:
    """The fields of all forms of ours, also those that no page shows at the moment."""
    for module in walk_packages(web.__path__, f"{web.__name__}."):
        import_module(module.name)
    classes = [*Form.__subclasses__()]
    for each in classes:  # grows while it is walked
        classes += each.__subclasses__()
    return sorted({name for each in classes if each.__module__.startswith("runs.") for name in each.base_fields})


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, Fields]] = []
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self._open = (given.get("method") or "").lower() == "post"
            if self._open:
                self.found.append((given.get("action") or "", {}))
        name = given.get("name")
        if self._open and name and tag in {"input", "textarea", "select", "button"}:
            chosen = given.get("value") or ("on" if given.get("type") == "checkbox" else "x")
            self.found[-1][1].setdefault(name, []).append(chosen)
        if self._open and tag == "option" and self.found[-1][1]:
            list(self.found[-1][1].values())[-1].append(given.get("value") or "")


def forms_in(page: str, path: str) -> list[tuple[str, Fields]]:
    """The forms of a page that are posted: where to, and each field with the values that it offers."""
    reader = _Forms()
    reader.feed(page)
    return [(urlsplit(action).path or path, fields) for action, fields in reader.found]


def real_or_hostile(real: str, chance: float, random: Random) -> str:
    """The argument that leads somewhere, else one that nobody has."""
    if random.random() > chance:
        return quote(real, safe="/")
    if random.random() < 0.5:
        return random.choice(values.PATHS)
    return quote(values.text(random).encode(), safe="")[:6_000] or "%20"
