"""Writes to the data folder of a site while it is served: `python -m tests.browser.made`, asked by `Site.write`.

A process of its own, which stays: each line it reads is a JSON list, the name of a function of tests/browser/writes.py
and its arguments, and it prints one line of JSON for the answer.
"""

import json
import sys
import traceback

import django


def main() -> None:
    django.setup()
    from tests.browser.writes import FUNCTIONS  # the models are there only after the set-up

    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            answer = {"done": FUNCTIONS[name](*arguments)}
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
