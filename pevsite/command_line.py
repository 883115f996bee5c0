"""The command line: `serve`, `worker`, `run`, `people`, `check_models`, Django's own commands, and those of a client.

`manage.py` of a checkout, and the program `pevsite` of an installed package.
"""

import os
import sys

from pevsite import installation
from pevsite.client import commands

STARTING = {"calibrate", "evaluate", "restore", "serve", "worker", "run", "people", "check_models", "migrate"}
"""The commands that make an installation if there is none. Other commands write nothing when they read the settings."""


def main() -> None:
    if sys.argv[1:2] and sys.argv[1] in commands.COMMANDS:
        sys.exit(commands.run(sys.argv[1:]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pevsite.settings")
    if sys.argv[1:2] == ["evaluate"]:
        _use_own_installation()
    # Settings need the data folder before the command parses its options.
    for index, argument in enumerate(sys.argv):
        if argument.startswith("--data-dir="):
            os.environ["PEV_DATA_DIR"] = argument.partition("=")[2]
        elif argument == "--data-dir" and index + 1 < len(sys.argv):
            os.environ["PEV_DATA_DIR"] = sys.argv[index + 1]
    is_help = not {"-h", "--help"}.isdisjoint(sys.argv)
    if is_help and sys.argv[1:2] == ["run"]:
        from runs.management.commands.run import Command  # needs no tables, whose import takes longer than the rest

        Command().print_help(sys.argv[0], "run")
        return
    # Imported here, because the help above needs none of these.
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import InterfaceError, OperationalError

    from pevsite.environment import read_environment

    try:
        if not is_help and STARTING.intersection(sys.argv[1:2]):
            environment = read_environment()
            # Before the settings are read: they look for the database and the key in the folder.
            installation.prepare(environment.data_dir, with_key=not environment.secret_key)
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, installation.UnsafeFolder) as error:
        sys.exit(str(error))
    except (InterfaceError, OperationalError) as error:
        sys.exit(lost(error))


OF_PEOPLE = ("PEV_DATABASE_URL", "PEV_REDIS_URL", "PEV_BLOBS", "PEV_ENGINE", "PEV_QUOTAS", "PEV_SECOND_PERSON")
"""Settings that lead to the data of an installation in which people work, or that wait for them."""


def _use_own_installation() -> None:
    """Lead `evaluate` to an installation of its own: a folder in the data folder, and no services of the other one."""
    from pevsite.environment import read_environment  # imported late for the help of `run`, as below

    folder = read_environment().data_dir / "evaluation"
    for name in OF_PEOPLE:
        os.environ.pop(name, None)
    os.environ["PEV_DATA_DIR"] = str(folder)


def lost(error: Exception) -> str:
    """The sentence for a person who started a command, if the database cannot be reached any more."""
    line = str(error).partition("\n")[0].strip().rstrip(".")
    return (
        f"The connection to the database was lost: {line}. No data is lost. Start this command again when the database "
        "answers."
    )
