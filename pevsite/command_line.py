"""The command line: `serve`, `worker`, `run`, `people`, `check_models`, Django's own commands, and those of a client.

`manage.py` of a checkout, and the program `pevsite` of an installed package.
"""

import os
import sys
import textwrap

from pevsite import installation
from pevsite.client import commands

STARTING = {"calibrate", "evaluate", "restore", "serve", "worker", "run", "people", "check_models", "migrate"}
"""The commands that make an installation if there is none. Other commands write nothing when they read the settings."""


def main() -> None:
    match sys.argv[1:]:
        case ["help", name] if name in commands.COMMANDS:
            sys.exit(commands.run([name, "--help"]))
        case [name, *_] if name in commands.COMMANDS:
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
        if sys.argv[1:] in ([], ["help"], ["-h"], ["--help"]):
            _print_help()
        else:
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


def _print_help() -> None:
    """Print what each command does: those against a server, those of an installation, and the names of Django's."""
    program = installation.PROGRAM
    lines = [f"Usage: {program} COMMAND [options]", f"The options of a command: {program} COMMAND --help"]
    lines += ["", "Commands that work with a server, over its REST API:"]
    lines += [f"  {name:<18} {commands.sentence_about(name)}" for name in commands.COMMANDS]
    try:
        # Imported here, because the lines so far need no settings, and these may be wrong.
        import django
        from django.core.management import get_commands, load_command_class

        django.setup()
        apps = get_commands()
        lines += ["", "Commands for an installation on this machine:"]
        for name in sorted(name for name, app in apps.items() if app == "runs"):
            lines.append(f"  {name:<18} {' '.join(load_command_class('runs', name).help.split())}")
        lines += ["", "Commands of Django and its applications:"]
        names = ", ".join(sorted(name for name, app in apps.items() if app != "runs"))
        lines.append(textwrap.fill(names, 110, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
    finally:
        print("\n".join(lines))


def lost(error: Exception) -> str:
    """The sentence for a person who started a command, if the database cannot be reached any more."""
    line = str(error).partition("\n")[0].strip().rstrip(".")
    return (
        f"The connection to the database was lost: {line}. No data is lost. Start this command again when the database "
        "answers."
    )
