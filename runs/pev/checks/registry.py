"""The registry of checks: finds the modules of this package that declare one, and defines the type of any check."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, TypeAliasType, Union

from pydantic import Field

import runs.pev.checks
from runs.pev.checks.base import Check


def _declared() -> Iterator[type[Check]]:
    for module in iter_modules(runs.pev.checks.__path__, "runs.pev.checks."):
        for value in vars(import_module(module.name)).values():
            is_kind = isinstance(value, type) and issubclass(value, Check) and value.__module__ == module.name
            if is_kind and hasattr(value, "order"):
                yield value


KINDS: Mapping[str, type[Check]] = {
    kind.name(): kind for kind in sorted(_declared(), key=lambda kind: (kind.order, kind.name()))
}
"""By the value of `kind`, in the order in which people and models see them."""

if TYPE_CHECKING:
    AnyCheck = Check
else:
    AnyCheck = TypeAliasType("Check", Annotated[Union[tuple(KINDS.values())], Field(discriminator="kind")])  # noqa: UP007
"""A check of any kind, discriminated by `kind`. Its name is part of the schema that planners get."""
