"""The commands against a server, and their options. What takes long to import is left to the commands themselves."""

from __future__ import annotations

import getpass
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from http.client import FORBIDDEN
from pathlib import Path
from typing import TYPE_CHECKING

from pevsite.client import account
from pevsite.client.account import Account
from pevsite.client.terminal import INTERRUPTED, Failed, Screen
from pevsite.installation import PROGRAM
from runs.http_client.idempotency_key import KEPT_IN_WORDS, is_usable

if TYPE_CHECKING:
    import httpx2

    from pevsite.client.server import Server

_EXIT = (
    "Exit status: 0 done or succeeded, 3 partial, 1 failed or not done, 2 wrong use, 4 a decision is open "
    "(watch --until-asked), 130 interrupted (Ctrl-C)."
)


def run(
    arguments: Sequence[str],
    transport: httpx2.BaseTransport | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> int:
    """Perform the command and return its exit code. `transport` and `wait` are others in tests."""
    options = _parser(arguments[0]).parse_args(arguments[1:])
    screen = Screen(as_json=options.json)
    try:
        return _perform(arguments[0], screen, options, transport, wait)
    except Failed as failure:
        screen.problem(str(failure))
        return failure.exit_code
    except KeyboardInterrupt:
        screen.problem("\nInterrupted. A run that was submitted goes on at the server.")
        return INTERRUPTED
    except BrokenPipeError:  # what reads the output has seen enough, such as `head`
        sys.stderr.close()
        return 1


def _perform(
    name: str,
    screen: Screen,
    options: Namespace,
    transport: httpx2.BaseTransport | None,
    wait: Callable[[float], None],
) -> int:
    # Imported here, because the help needs neither HTTP nor contracts.
    from pevsite.client import decisions, downloads, runs, submitting
    from pevsite.client.server import Server

    def server_of(given: Account) -> Server:
        return Server(given, transport, wait, screen.problem)

    if name == "login":
        url = account.checked_url(options.url, insecure=options.insecure)
        given = Account(url, account.checked_token(_asked_token()))
        _check(server_of(given))
        account.store(given)
        screen.say(f"The access token for {url} works. It is stored in “{account.path()}”.")
        screen.answer({"url": url, "stored": str(account.path())})
        return 0
    if name == "logout":
        forgotten = account.forget(account.checked_url(options.url, insecure=True) if options.url else "")
        screen.say(f"The access token for {forgotten.url} is deleted from “{account.path()}”.")
        screen.say(f"It still works where it was copied to. Revoke it at {forgotten.url}/access-tokens/")
        screen.answer({"url": forgotten.url, "stored": str(account.path())})
        return 0
    perform = {
        "submit": submitting.submit,
        "watch": runs.watch,
        "stop": runs.stop,
        "pause": runs.pause,
        "resume": runs.resume,
        "gates": decisions.gates,
        "approve": decisions.approve,
        "reject": decisions.reject,
        "answer": decisions.answer,
        "delegate": decisions.delegate,
        "assign": decisions.assign,
        "report": downloads.report,
        "files": downloads.files,
    }[name]
    return perform(server_of(account.current(insecure=options.insecure)), screen, options)


def _asked_token() -> str:
    """The token as it is typed, unseen; without a terminal the first line of the input."""
    return getpass.getpass("Access token (it stays hidden): ") if sys.stdin.isatty() else sys.stdin.readline()


def _check(server: Server) -> None:
    """Raises Failed if the token does not work. One that may not read runs works too."""
    try:
        server.get("/runs", limit=1)
    except Failed as failure:
        if failure.status != FORBIDDEN:
            raise


def sentence_about(name: str) -> str:
    """What a command does."""
    words, _ = COMMANDS[name]
    return f"{words[:1].upper()}{words[1:]}."


def _parser(name: str) -> ArgumentParser:
    _, add_options = COMMANDS[name]
    parser = ArgumentParser(f"{PROGRAM} {name}", description=sentence_about(name), epilog=_EXIT)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--insecure", action="store_true", help="send the access token to another machine unencrypted")
    add_options(parser)
    return parser


def _of_login(parser: ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="the address of the server, such as https://pevsite.example.org")


def _of_logout(parser: ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", nargs="?", help="only if the stored token is for this server")


def _of_submit(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", type=Path, metavar="FOLDER_OR_FILE", help="what the task works on")
    parser.add_argument("-m", "--message", required=True, metavar="REQUEST", help="the task, in your own words")
    parser.add_argument("--template", help="a template by its key, such as document-review; no planner is asked")
    parser.add_argument("--preset", help="how much people are asked, such as balanced (careful)")
    _add_budget(parser, "what all model calls may cost")
    parser.add_argument("--no-files", action="store_true", help="there are no files, although the request names some")
    parser.add_argument(
        "--key",
        type=_key,
        help=f"submit once for each key in {KEPT_IN_WORDS}, however often this is called with it",
    )
    parser.add_argument("--wait", action="store_true", help="follow the run as `watch` does")


def _of_run(parser: ArgumentParser) -> None:
    parser.add_argument("run", type=_number, metavar="RUN", help="the number of the run")


def _of_watch(parser: ArgumentParser) -> None:
    _of_run(parser)
    parser.add_argument("--until-asked", action="store_true", help="leave with status 4 when a decision is open")


def _of_stop(parser: ArgumentParser) -> None:
    _of_run(parser)
    parser.add_argument("-m", "--message", default="", metavar="WORDS", help="why; no model reads it")


def _of_gates(parser: ArgumentParser) -> None:
    parser.add_argument("gate", type=_number, nargs="?", metavar="GATE", help="the number of a decision")


def _of_decision(parser: ArgumentParser) -> None:
    parser.add_argument("gate", type=_number, metavar="GATE", help="the number of the decision")
    parser.add_argument("--fingerprint", default="", help="of the decision as you have read it; nothing is asked then")


def _of_approve(parser: ArgumentParser) -> None:
    _of_decision(parser)
    _add_budget(parser, "the new budget, at a gate that asks for one")
    parser.add_argument("--minutes", type=_number, help="the new time limit, at a gate that asks for one")
    parser.add_argument(
        "--met",
        action="append",
        default=[],
        metavar="LABEL",
        help="a criterion that you judge as met, against the verdict; may come several times",
    )
    parser.add_argument("--why", default="", metavar="WORDS", help="why these criteria are met")
    parser.add_argument("--no-sources", action="store_true", help="a plan of creative work, which needs no sources")


def _of_reject(parser: ArgumentParser) -> None:
    _of_decision(parser)
    parser.add_argument("-m", "--message", default="", metavar="WORDS", help="what should be different, or why not")
    parser.add_argument(
        "--point",
        action="append",
        default=[],
        type=_point,
        metavar="NUMBER[=WORDS]",
        help="a point of the result that has to change, and what about it; may come several times",
    )
    parser.add_argument(
        "--part",
        action="append",
        default=[],
        type=_part,
        metavar="STEP[#CRITERION]=WORDS",
        help="what should be different in a step of the plan or in one of its criteria, or in a success criterion "
        "(#CRITERION=WORDS); may come several times",
    )


def _of_delegate(parser: ArgumentParser) -> None:
    _of_decision(parser)
    parser.add_argument("-m", "--message", default="", metavar="WORDS", help="what it should know for that")


def _of_assign(parser: ArgumentParser) -> None:
    parser.add_argument("gate", type=_number, metavar="GATE", help="the number of the decision")
    parser.add_argument("person", metavar="PERSON", help="the name of a person who may decide")


def _of_answer(parser: ArgumentParser) -> None:
    _of_decision(parser)
    parser.add_argument("-m", "--message", required=True, metavar="WORDS", help="the answer")


def _of_report(parser: ArgumentParser) -> None:
    _of_run(parser)
    parser.add_argument("--format", default="md", help="a format that the server has, such as pdf or docx (md)")
    _add_out(parser, "FILE", "where it is written (standard output)")


def _of_files(parser: ArgumentParser) -> None:
    _of_run(parser)
    _add_out(parser, "FOLDER", "where the files that the run has made or changed are written; they are listed without")
    parser.add_argument("--given", action="store_true", help="write also the files that the run was given")


def _add_out(parser: ArgumentParser, metavar: str, words: str) -> None:
    parser.add_argument("-o", "--out", type=Path, metavar=metavar, help=words)
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")


def _add_budget(parser: ArgumentParser, words: str) -> None:
    parser.add_argument("--budget", dest="budget_usd", type=_amount, metavar="DOLLARS", help=words)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:20]) < 2**63:
        raise ValueError(text)
    return int(text)


def _amount(text: str) -> str:
    """The amount as it was typed. Raises ValueError."""
    try:
        if Decimal(text) > 0:
            return text
    except InvalidOperation as error:
        raise ValueError(text) from error
    raise ValueError(text)


def _key(text: str) -> str:
    """A key as a header can carry it. Raises ValueError."""
    key = text.strip(" ")
    if not is_usable(key):
        raise ValueError(text)
    return key


def _point(text: str) -> dict[str, str | int]:
    number, _, note = text.partition("=")
    return {"point": _number(number), "note": note}


def _part(text: str) -> dict[str, str | int]:
    """A comment on a part of a plan. Raises ValueError."""
    place, _, words = text.partition("=")
    step, _, criterion = place.partition("#")
    if not place or not words.strip():
        raise ValueError(text)
    part: dict[str, str | int] = {"text": words}
    return part | ({"step": step} if step else {}) | ({"criterion": _number(criterion)} if criterion else {})


# What argparse calls a wrong value.
_number.__name__, _amount.__name__, _key.__name__ = "number", "amount", "key"
_point.__name__, _part.__name__ = "point", "part"
COMMANDS: dict[str, tuple[str, Callable[[ArgumentParser], None]]] = {
    "login": ("store the address of a server and an access token for it", _of_login),
    "logout": ("delete the stored access token", _of_logout),
    "submit": ("submit a task with files", _of_submit),
    "watch": ("follow a run until it is over", _of_watch),
    "stop": ("stop a run for good; what has passed is kept", _of_stop),
    "pause": ("start no new attempt of a run until it is resumed", _of_run),
    "resume": ("let a paused run go on", _of_run),
    "gates": ("list the open decisions, or show one", _of_gates),
    "approve": ("approve at a gate", _of_approve),
    "reject": ("request changes, or refuse", _of_reject),
    "answer": ("answer a question", _of_answer),
    "delegate": ("leave a question to the AI", _of_delegate),
    "assign": ("hand a decision on to another person", _of_assign),
    "report": ("download the report of a run", _of_report),
    "files": ("list the files of a run, or download those that it has made", _of_files),
}
"""What each command does, and its options."""
