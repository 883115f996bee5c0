"""A server of another user that runs one command in the sandbox. What its programs are lies in folders of root's."""

import json
import os
import sys

from runs.isolation import sandbox
from runs.isolation.sandbox import CommandLimits


def main() -> None:
    given = json.loads(sys.argv[1])
    os.setgroups([])
    os.setresgid(*[given["user"]] * 3)
    os.setresuid(*[given["user"]] * 3)
    ended = sandbox.run(["sh", "-c", given["script"]], lambda folder: None, CommandLimits(**given["limits"]))
    print(json.dumps([ended.status, ended.output.decode(), ended.cut, ended.why]))


if __name__ == "__main__":
    main()
