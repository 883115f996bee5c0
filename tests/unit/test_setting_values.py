"""Texts of variables become values, or are refused with the rest of a sentence."""

from datetime import date
from pathlib import Path

import pytest

from pevsite.setting_values import (
    business_days,
    command_folders,
    commands,
    holidays,
    policy_values,
    provider_address,
    roles_of_groups,
    service_tools,
    time_zone,
)
from runs.enums import PersonRole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (" ; ", {}),
        ("tests: pytest -q", {"tests": ("pytest", "-q")}),
        (
            "tests: pytest -k 'one and two'; lint-all:ruff check .;",
            {"tests": ("pytest", "-k", "one and two"), "lint-all": ("ruff", "check", ".")},
        ),
        ("one: sh -c 'a; b # c'; two: d#e", {"one": ("sh", "-c", "a; b # c"), "two": ("d#e",)}),
        ("tests: sh -c 'rm -rf $HOME'", {"tests": ("sh", "-c", "rm -rf $HOME")}),
    ],
)
def test_names_and_arguments(text: str, expected: dict[str, tuple[str, ...]]) -> None:
    assert commands(text) == expected


@pytest.mark.parametrize(
    "text", ["pytest -q", "tests:", "Tests: pytest", "tests: pytest 'q", "a b: c", "tests: a; tests: b", ": pytest"]
)
def test_what_cannot_be_read_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=r"^“.*” cannot be read\. Write it as in “tests: "):
        commands(text)


def test_folders_that_commands_see(tmp_path: Path) -> None:
    assert command_folders(" : ") == ()
    assert command_folders(f"/usr/bin: {tmp_path}") == (Path("/usr/bin"), tmp_path)


@pytest.mark.parametrize("text", ["tools", "/no/such/folder", "/usr:/usr/../root", "/etc/hostname"])
def test_what_is_no_folder_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=r" is not a folder here\. Name whole paths "):
        command_folders(text)


@pytest.mark.parametrize("path", ["/", "/tmp", "/root", "/proc", "/dev/shm", "link"])
def test_a_folder_in_whose_place_the_sandbox_has_its_own_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "link").symlink_to("/proc")
    with pytest.raises(ValueError, match="commands cannot see"):
        command_folders(str(tmp_path / path))


def test_values_of_a_policy() -> None:
    assert policy_values("attempts=2, budget=5.50 time_limit=none") == {
        "attempts": "2",
        "budget": "5.50",
        "time_limit": "none",
    }


@pytest.mark.parametrize("text", ["attempts", "=2"])
def test_values_without_a_field_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=rf"^“{text}” cannot be read\. Write it as attempts=2, budget=5\.$"):
        policy_values(text)


def test_tools_of_the_service() -> None:
    assert service_tools("web_search, web_fetch") == {"web_search", "web_fetch"}
    with pytest.raises(ValueError, match=r"^“web” is not a tool\. There are: code_execution, web_fetch, web_search\.$"):
        service_tools("web")


@pytest.mark.parametrize("name", ["Mars", "../UTC", "Europe"])
def test_a_zone_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="such as Europe/Berlin"):
        time_zone(name)


@pytest.mark.parametrize(
    ("text", "days"),
    [("Mon-Fri", {0, 1, 2, 3, 4}), ("mon-thu, SAT", {0, 1, 2, 3, 5}), ("Sun", {6}), ("Sun-Sun Mon", {0, 6})],
)
def test_business_days_are_read(text: str, days: set[int]) -> None:
    assert business_days(text) == days


@pytest.mark.parametrize("text", ["Monday", "1-5", "Mon-", "Fri-Mon", "Mon-Fri-Sat", "-", ","])
def test_days_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Write it as Mon-Fri|Weeks begin with Mon"):
        business_days(text)


def test_holidays_are_read_and_other_texts_refused() -> None:
    assert holidays("2026-12-25, 2027-01-01 ") == {date(2026, 12, 25), date(2027, 1, 1)}
    for text in ("25.12.2026", "2026-02-30", "Christmas", "0000-01-01"):
        with pytest.raises(ValueError, match="Write it as 2026-12-25"):
            holidays(text)


@pytest.mark.parametrize(
    ("text", "issuer"),
    [
        ("https://login.example/realms/staff", "https://login.example/realms/staff"),
        ("https://login.example/.well-known/openid-configuration", "https://login.example"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://localhost:8080/", "http://localhost:8080/"),
    ],
)
def test_the_address_of_a_provider(text: str, issuer: str) -> None:
    assert provider_address(text) == issuer


@pytest.mark.parametrize(
    "text",
    [
        "login.example",
        "http://login.example",
        "ftp://login.example",
        "https://a:b@login.example",
        "https://",
        "https://[",
        "https://login.example?x=1",
        "https://login.example#x",
    ],
)
def test_an_address_that_others_can_read_is_none_of_a_provider(text: str) -> None:
    with pytest.raises(ValueError, match="it must be an address such as https://login"):
        provider_address(text)


def test_an_address_that_cannot_be_stored_is_refused() -> None:
    with pytest.raises(ValueError, match="it has 216 characters"):
        provider_address(f"https://login.example/{'x' * 194}")


def test_roles_of_groups() -> None:
    assert roles_of_groups("legal leads=approver, legal leads = submitter,a=b=administrator,") == {
        "legal leads": {PersonRole.APPROVER, PersonRole.SUBMITTER},
        "a=b": {PersonRole.ADMINISTRATOR},
    }


@pytest.mark.parametrize("text", ["legal", "=approver", "legal=owner", "legal=Approver"])
def test_groups_without_a_role_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=rf"^“{text}” cannot be read\. .*The roles are viewer, submitter, approver, "):
        roles_of_groups(text)
