"""A pattern that takes RE2 microseconds for each character of a text: each `a` opens 500 states to follow."""

import random

PATTERN = r"(?:a|b)*a(?:a|b){500}c"
TEXT = "".join(random.Random(1).choices("ab", k=400_000))
