"""A key as careless and as hostile services repeat it, and a search for what is left of it that shares no code."""

import base64
import html
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from urllib.parse import quote, unquote

KEY = "sk-ant-api03-Zx81qLmW0vRt-5uYhPq2NcKd_7JsBf3GoEa9TiXw6DlUrMv4HzCyQ"
"""Looks like a real one and is none."""
PIECE = 20
"""Characters of it that must stand nowhere, in any of the spellings that `leaks` undoes."""

ECHOES: Mapping[str, Callable[[str], str]] = {
    "whole": lambda key: key,
    "without its end": lambda key: key[:-1],
    "without its beginning": lambda key: key[14:],
    "in the middle": lambda key: f"xyz{key}abc",
    "capitals": lambda key: key.upper(),
    "a line feed": lambda key: f"{key[:30]}\n{key[30:]}",
    "spaces": lambda key: " ".join(key),
    "zero width": lambda key: "\u200b".join(key),
    "null characters": lambda key: "\0".join(key),
    "quoted pieces": lambda key: '", "'.join(key[at : at + 9] for at in range(0, len(key), 9)),
    "percent": lambda key: "".join(f"%{ord(char):02X}" for char in key),
    "percent twice": lambda key: quote(quote("".join(f"%{ord(char):02x}" for char in key))),
    "json escapes": lambda key: "".join(f"\\u{ord(char):04x}" for char in key),
    "escaped json escapes": lambda key: json.dumps("".join(f"\\u{ord(char):04x}" for char in key)),
    "c escapes": lambda key: "".join(f"\\x{ord(char):02x}" for char in key),
    "html": lambda key: "".join(f"&#{ord(char)};" for char in key),
    "html in hexadecimal": lambda key: "".join(f"&#x{ord(char):X};" for char in key),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of more": lambda key: base64.b64encode(f"x-api-key: {key}\r\n".encode()).decode(),
    "base64 of even more": lambda key: base64.b64encode(f"ab{key}cd".encode()).decode(),
    "base64 for addresses": lambda key: base64.urlsafe_b64encode(f"user:{key}?".encode()).decode(),
    "base64 in lines": lambda key: base64.encodebytes(f"user:{key}".encode()).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal with colons": lambda key: key.encode().hex(":").upper(),
    "codes": lambda key: str(list(key.encode())),
}


def leaks(text: str, key: str = KEY) -> list[str]:
    """The pieces of the key that can still be read out of the text: of every 20 characters one of these is a part."""
    found = set()
    for view in _views(text):
        dense = re.sub(r'[\s\0\u200b",:\[\]�]', "", view)
        low = dense.lower()
        found |= {one for one in _spelled(key) if one in low} | {one for one in _encoded(key) if one in dense}
    return sorted(found)


@cache
def _spelled(key: str) -> list[str]:
    parts = [key[at : at + PIECE - 4].lower() for at in range(0, len(key) - PIECE + 5, 4)]
    upper = [key[at : at + PIECE - 4].encode() for at in range(0, len(key) - PIECE + 5, 4)]
    return [*parts, *(part.hex() for part in upper), *("".join(map(str, part)) for part in upper)]


def _views(text: str) -> list[str]:
    views = [text]
    for _ in range(3):
        views += [html.unescape(views[-1]), unquote(views[-1])]
        views.append(re.sub(r"\\+(?:u00|x)([0-9a-fA-F]{2})", lambda match: chr(int(match[1], 16)), unquote(views[-2])))
    return views


@cache
def _encoded(key: str) -> list[str]:
    """Pieces of base64 that hold at least `PIECE` characters of the key."""
    plain = key.encode()
    encoded = [base64.b64encode(plain[skip:]).decode().rstrip("=")[:-1] for skip in range(3)]
    encoded += [one.replace("+", "-").replace("/", "_") for one in encoded]
    return [one[at : at + 28] for one in encoded for at in range(0, len(one) - 28, 4)]
