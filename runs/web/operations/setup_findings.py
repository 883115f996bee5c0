"""What is configured, reachable or inconsistent in this installation: a sentence for each, which says what to do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from runs.engine.process_registry import SILENT_AFTER, key_mark, newest_migration
from runs.enums import DeliveryStatus, TokenScope
from runs.isolation import sandbox
from runs.lifecycle import toolset
from runs.lifecycle.toolset import command_lines, view_of_commands
from runs.mcp_client.server_config import SEPARATOR
from runs.models import AccessToken, Delivery, Process, ServerListing, clock
from runs.notices.channels.registry import channels_on
from runs.pev.decision_limits import in_words
from runs.store import blobs
from runs.submission.policy_presets import current_service
from runs.text.domains import sites
from runs.text.plural import pluralize
from runs.web.operations.health import Health
from runs.web.site.addresses import API_PATH

MAX_SKEW = 2.0
"""Seconds by which clocks may differ: waits and times on pages are wrong by as much, leases are not."""


@dataclass(frozen=True)
class Finding:
    """`is_wrong`: somebody has to act."""

    about: str
    text: str
    is_wrong: bool = False


def findings() -> Iterator[Finding]:
    """Everything that can be found out. Takes some seconds at most, even if a part does not answer."""
    problems = Health().problems()
    if problem := problems["database"]:
        yield Finding("Database", f"It {problem}. Start it, or correct PEV_DATABASE_URL.", is_wrong=True)
        return
    yield from _database()
    yield from _messages(problems["redis"])
    yield from _files(problems["files"])
    yield Finding("Models", current_service().for_operators)
    if settings.TRACES:
        what = "with what people, files and models have written" if settings.TRACE_CONTENT else "without any content"
        yield Finding("Traces", f"They are sent to OTEL_EXPORTER_OTLP_ENDPOINT, {what}.")
    yield from _commands()
    if limits := in_words(settings.DECISION_LIMITS):
        text = f"No policy of a run allows decisions to wait longer than PEV_DECISION_LIMITS says, in hours: {limits}."
        yield Finding("Decisions", text)
    yield from _notices()
    if settings.WEB:
        text = f"Runs whose policy says so may read {sites(settings.WEB).words}, at public addresses alone."
        yield Finding("Web", text)
    if settings.SERVICE_TOOLS:
        names = ", ".join(sorted(settings.SERVICE_TOOLS))
        text = f"Runs whose policy says so may have {names} run by Claude's own service; no other server has these."
        yield Finding("Service tools", text)
    yield from _servers()
    try:
        alive = list(Process.objects.filter(seen_at__gte=clock.after(-SILENT_AFTER)))
        tokens = AccessToken.objects.living(timezone.now()).filter(user__is_active=True)
        working, deciding = tokens.count(), tokens.filter(scopes__contains=TokenScope.GATES_DECIDE).count()
    except DatabaseError:
        return  # the tables of before, which is said above
    if settings.MCP_SERVER:
        yield Finding("MCP server", f"Programs of people are answered at /mcp. Access tokens that work: {working}.")
    if settings.API:
        text = (
            f"Programs of people are answered at {API_PATH}, with at most {settings.API_RATE:,} requests of a token in "
            f"a minute. Access tokens that work: {working}."
        )
        if settings.API_DECIDES:
            text += f" PEV_API_DECIDES is on: {pluralize(deciding, 'token')} may decide in the name of a person."
        yield Finding("REST API", text)
    yield from _processes(alive)
    if problem := problems["engine"]:
        yield Finding("Work", f"{problem[:1].upper()}{problem[1:]}.", is_wrong=True)


def _database() -> Iterator[Finding]:
    if connection.vendor == "sqlite":
        yield Finding("Database", f"SQLite in {settings.DATA_DIR}, for one machine.")
    else:
        yield Finding("Database", f"PostgreSQL {'.'.join(map(str, connection.get_database_version()))} answers.")
    applied = {name for app, name in MigrationRecorder(connection).applied_migrations() if app == "runs"}
    newest, known = max(applied, default=""), newest_migration()
    if newest > known:
        text = f"A newer version has changed its tables ({newest}): start that version everywhere; this one stops."
        yield Finding("Database", text, is_wrong=True)
    elif newest < known:
        text = f"Its tables are older than {known}: the next process that starts changes them. Make a back-up first."
        yield Finding("Database", text, is_wrong=True)


def _commands() -> Iterator[Finding]:
    if not settings.COMMANDS:
        return
    if problem := sandbox.problem():
        yield Finding("Commands", f"{problem} PEV_COMMANDS names some, and none of them is run.", is_wrong=True)
        return
    problems = {name: view_of_commands().problem(argv) for name, argv in settings.COMMANDS.items()}
    if listed := ", ".join(f"{name} ({line})" for name, line in command_lines().items() if not problems[name]):
        yield Finding("Commands", f"Models may run {listed}, in a sandbox without a network.")
    for name, problem in problems.items():
        if problem:
            yield Finding("Commands", f"“{name}” cannot be run. {problem}", is_wrong=True)


def _notices() -> Iterator[Finding]:
    channels = [one.label for one in channels_on()]
    if not channels:
        text = "Nothing is sent. To change that, set PEV_SMTP_HOST, PEV_CHAT_SERVICES or PEV_WEBHOOKS."
        yield Finding("Notices", text)
        return
    failed = Delivery.objects.filter(status=DeliveryStatus.FAILED).count()
    what = f"{pluralize(failed, 'notice')} could not be sent. See the page Notices of the status." if failed else ""
    yield Finding("Notices", what or f"People may have them sent: {', '.join(channels)}.", is_wrong=bool(failed))


def _servers() -> Iterator[Finding]:
    rows = {row.name: row for row in ServerListing.objects.filter(name__in=settings.MCP)}
    for name in settings.MCP:
        row = rows.get(name)
        if row is None or row.asked_at is None:
            yield Finding("MCP", f"{name} was not asked for its tools yet; check_setup does that now.")
            continue
        does = [f"{tool.name} ({toolset.server_effect(f'{name}{SEPARATOR}{tool.name}').words})" for tool in row.tools]
        text = f"{name} has {', '.join(does) or 'no tools'}."
        left = f" Left out: {'; '.join(row.left_out)}." if row.left_out else ""
        yield Finding("MCP", f"{row.problem} {text}{left}".strip(), is_wrong=bool(row.problem))


def _messages(problem: str) -> Iterator[Finding]:
    if not settings.REDIS_URL:
        yield Finding("Redis", "Not set: messages stay in their process, which is enough for one.")
    elif problem:
        text = f"It {problem}: browsers update late, and Celery starts no new work. Start it, or correct PEV_REDIS_URL."
        yield Finding("Redis", text, is_wrong=True)
    else:
        yield Finding("Redis", "It answers.")


def _files(problem: str) -> Iterator[Finding]:
    free = shutil.disk_usage(settings.DATA_DIR).free
    is_local = blobs.store().is_local
    if problem and is_local:
        yield Finding("Files", f"{problem[:1].upper()}{problem[1:]} in {settings.DATA_DIR}.", is_wrong=True)
    elif problem:
        remedy = "Correct PEV_BLOBS and the AWS_… variables, or start the store."
        yield Finding("Files", f"{problem[:1].upper()}{problem[1:]}. {remedy}", is_wrong=True)
    elif not is_local:
        yield Finding("Files", "The bucket of PEV_BLOBS answers.")
    if problem:
        return
    if free < settings.MIN_FREE_BYTES:
        least = settings.MIN_FREE_BYTES // 1_000_000
        text = f"{free // 1_000_000:,} MB are free: below {least:,} MB new runs are refused."
        yield Finding("Files", f"{text} Make room.", is_wrong=True)
    else:
        yield Finding("Files", f"{settings.DATA_DIR} can be written, {free // 1_000_000:,} MB are free.")


def _processes(alive: Sequence[Process]) -> Iterator[Finding]:
    serving = [one for one in alive if one.serves]
    working = [one for one in alive if one.threads]
    yield Finding("Processes", f"{len(serving)} serving and {len(working)} working processes were seen recently.")
    if connection.vendor == "sqlite" and len({one.host for one in alive}) > 1:
        text = f"{_named(alive)} have different host names, and SQLite works only on one machine."
        yield Finding("Processes", f"{text} For several, set PEV_DATABASE_URL (PostgreSQL).", is_wrong=True)
    if serving and not working:
        yield Finding("Processes", "No process works: start a worker, or serve without --no-engine.", is_wrong=True)
    if working and all(one.draining for one in working):
        yield Finding("Processes", "All workers are drained: no new work starts until one resumes.", is_wrong=True)
    if len(alive) > 1 and (without := [one for one in alive if not one.messages]):
        text = (
            f"PEV_REDIS_URL is missing at {_named(without)}: browsers learn late what other processes do, and each "
            "process counts the requests and the wrong tokens of programs by itself."
        )
        yield Finding("Processes", text, is_wrong=True)
    yield from _differences(alive)


def _differences(alive: Sequence[Process]) -> Iterator[Finding]:
    """Values that all processes of an installation share, except during an upgrade."""
    for column, name, remedy in (
        ("engine", "PEV_ENGINE", "Set the same everywhere"),
        ("version", "version", "Finish the upgrade: restart the older processes"),
        ("schema", "newest migration", "Finish the upgrade: restart the older processes"),
    ):
        values = sorted({getattr(one, column) for one in alive})
        at = {value: [one for one in alive if getattr(one, column) == value] for value in values}
        if len(at) > 1:
            each = "; ".join(f"{value} at {_named(those)}" for value, those in at.items())
            yield Finding("Processes", f"They differ in {name}: {each}. {remedy}.", is_wrong=True)
    if others := [one for one in alive if one.key != key_mark()]:
        text = f"PEV_SECRET_KEY is another at {_named(others)} than here: sessions from there are not valid here."
        yield Finding("Processes", f"{text} Set the same everywhere.", is_wrong=True)
    for one in alive:
        if abs(one.clock_ahead) > MAX_SKEW:
            by = f"{abs(one.clock_ahead):.0f} s {'ahead of' if one.clock_ahead > 0 else 'behind'} the database's"
            yield Finding("Clocks", f"That of {one.owner} is {by}. Synchronise both, as with NTP.", is_wrong=True)


def _named(processes: Sequence[Process]) -> str:
    return ", ".join(one.owner for one in processes)
