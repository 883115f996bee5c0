"""Writes runs in states that take long to reach into the data folder of a site: `python -m tests.browser.made NAME…`.

Prints the number of each. To be run before the site is served: a worker would take up what is under way meanwhile.
"""

import sys
from collections.abc import Callable

import django

LEDGER = "Document,Clause,Amount,Due\n" + "".join(
    f'contracts/lease.md,{n}.1,"{n},200 EUR",2026-0{1 + n % 9}-01\n' for n in range(1, 61)
)


def main(names: list[str]) -> None:
    django.setup()
    from django.contrib.auth import get_user_model  # models are there only after the set-up
    from django.core.management import call_command

    from runs.models import Run
    from tests import factories

    call_command("migrate", verbosity=0)
    steps = [factories.plan_step(f"s{number}", f"Step {number}") for number in range(1, 41)]
    makers: dict[str, Callable[[], Run]] = {
        "plan of 4": lambda: factories.awaiting_plan(factories.plan(*steps[:4])),
        "plan of 40": lambda: factories.awaiting_plan(factories.plan(*steps), max_steps=500),
        "second plan": factories.awaiting_second_plan,
        "result of 4": lambda: factories.reporting(factories.points(1), factories.large_step_gate(4)),
        "result of 40": lambda: factories.reporting(factories.points(200), factories.large_step_gate(40)),
        "rows": lambda: factories.reporting(factories.rows(3), factories.large_step_gate(4), rows_csv=LEDGER),
        "exhausted": factories.exhausted_gate,
    }
    runs = [makers[name]() for name in names]
    get_user_model().objects.filter(username="alice").update(is_superuser=True)
    print(*(run.pk for run in runs))


if __name__ == "__main__":
    main(sys.argv[1:])
