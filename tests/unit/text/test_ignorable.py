"""Characters that no one sees."""

import re
import sys

import regex

from runs.text.ignorable import IGNORABLE, IGNORED


def test_both_expressions_mean_the_same_characters() -> None:
    every = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    assert re.findall(f"[{IGNORED}]", every) == regex.findall(IGNORABLE, every)
