"""Does so many runs one after the other in this process, and prints the seconds that each took: `one_run TIMES`."""

from __future__ import annotations

import logging
import sys

import django


def main() -> None:
    django.setup()
    logging.getLogger().setLevel(logging.ERROR)
    # models can be imported only when Django is set up
    from django.core.management import call_command

    from runs.engine.process import Engine
    from tests.bench.site import finished, seconds_of, submitted

    call_command("migrate", verbosity=0, interactive=False)
    engine = Engine(4)
    engine.start()
    finished(submitted(reuse=False))  # for what is compiled and connected once
    for _ in range(int(sys.argv[1])):
        print(seconds_of(finished(submitted(reuse=False))))
    engine.stop()


if __name__ == "__main__":
    main()
