"""Hostile values: numbers, texts, paths, files and bodies that broke other sites, and this one once."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

NUMBERS = (
    *("0", "-1", "-0", "00", "1.5", "1,5", " 1 ", "+1", "1_0", "0x10", "٣", "²", "1/2", "1e3"),
    *(
        "nan",
        "-nan",
        "inf",
        "-Infinity",
        "1e400",
        "-1e400",
        "1e-400",
        "1e999990",
        "-1e999990",
        "1e99999999999999999999",
    ),
    *(
        str(2**31),
        str(2**63 - 1),
        str(2**63),
        str(-(2**63) - 1),
        str(2**64),
        "9" * 40,
        "9" * 5_000,
        "0." + "0" * 5_000 + "1",
    ),
)
TEXTS = (
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\r\nSet-Cookie: a=b",
        "\x1b[2J\x1b]0;pwned\x07",
        "\u202etxt.exe",
        "\u200b",
        "\ufffe",
        "\x85",
        "é" * 300,
    ),
    *(
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "{{ 7*7 }}",
        "{% debug %}",
        "${7*7}",
        "%s%n%d",
        "{0.__class__}",
    ),
    *(
        "../../etc/passwd",
        "/etc/passwd",
        "..\\..\\windows",
        "file:///etc/passwd",
        "//evil.example/",
        "https://evil.example",
        "javascript:alert(1)",
    ),
    *("' OR 1=1 --", '"; DROP TABLE runs; --', "None", "null", "true", "[]", "{}", "on", "approve", "admin", "alice"),
    *(
        "(" * 500,
        "(?:" * 20 + "a" + ")+" * 20,
        "a" * 70_000,
        "🙂" * 3_000,
        "\u0300" * 5_000,
        "[a](" * 2_000,
        "> " * 3_000,
        "*a_ " * 3_000,
    ),
)
NAMES = (
    *(
        "a.txt",
        "../a.txt",
        "/a.txt",
        "C:\\a.txt",
        "a.txt:stream",
        "CON",
        "nul.md",
        "a. ",
        ".env",
        ".git/config",
        "a\u202eb.md",
        "a\0.md",
    ),
    *(
        "=cmd|'/c calc'!A1.csv",
        "<b>.md",
        "a" * 300 + ".md",
        "/".join("abcdefghij" * 5),
        "a\nb.md",
        "-rf",
        "~",
        "é.md",
        "e\u0301.md",
    ),
)
PATHS = (
    "%00",
    "%ff%fe",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e",
    "%c0%ae",
    "a%0d%0ab",
    "%20",
    "%3Cscript%3E",
    "a" * 3_000,
    "%25",
    "%F0%9F%99%82",
)
TYPES = (
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded; charset=utf-7",
    "multipart/form-data",
    "",
    "\0",
    "a/b; charset=nonsense",
)


def text(random: Random) -> str:
    """A number or a text; now and then two of them together."""
    chosen = random.choice(random.choice((NUMBERS, TEXTS)))
    return chosen + random.choice(TEXTS) if random.random() < 0.05 else chosen


def json_value(random: Random) -> Any:
    """A value that a JSON document may hold where another one was expected."""
    makers: tuple[Callable[[], Any], ...] = (
        lambda: text(random),
        lambda: random.choice(
            (None, True, False, 0, -1, 2**63, 2**64, 10**400, 1e308, -0.0, float("inf"), float("nan"))
        ),
        lambda: random.choice(([], {}, [[]], {"": ""}, [None], {"__proto__": 1}, ["a"] * 3_000)),
        lambda: nested(random.choice((50, 500, 5_000))),
    )
    return random.choice(makers)()


def nested(levels: int) -> Any:
    value: Any = "deep"
    for _ in range(levels):
        value = [value]
    return value


def mutated_json(whole: Any, random: Random) -> str:
    """A JSON document with one to three of its values replaced, left out or doubled; now and then broken as text."""
    copy = json.loads(json.dumps(whole))
    for _ in range(random.randint(1, 3)):
        _mutate(copy, random)
    try:
        written = json.dumps(copy, ensure_ascii=random.random() < 0.5)
    except (RecursionError, ValueError):  # CPython 3.13 counts levels; the reader shall meet them all the same
        written = "[" * 5_000 + "]" * 5_000
    return written[: random.randrange(len(written) + 1)] if random.random() < 0.1 else written


def _mutate(value: Any, random: Random) -> None:
    """Change something inside of a list or an object, the deeper the rarer."""
    while True:
        keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = random.choice(keys)
        inner = value[key]
        if isinstance(inner, dict | list) and inner and random.random() < 0.8:
            value = inner
            continue
        change = random.randrange(3)
        if change == 0:
            del value[key]
        elif change == 1 and isinstance(value, list):
            value.append(inner)
        else:
            value[key] = json_value(random)
        return
