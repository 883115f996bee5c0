"""Causes of errors of which more is known than their message: each in plain words, with what helps against it."""

from collections.abc import Mapping
from dataclasses import dataclass

from runs.errors import NoVerdict


@dataclass(frozen=True)
class Cause:
    """`title` is a sentence without its full stop, `helps` says who does what. `passes`: trying again may be enough."""

    title: str
    helps: str
    passes: bool = False


_RESTART = "in the environment of the server and restarts it"
_GOES_ON = "Until then trying again cannot help; after it, the run goes on from here."
_CAUSES: Mapping[str, Cause] = {
    "authentication_error": Cause(
        "The service refused the key", f"An administrator sets the right key {_RESTART}. {_GOES_ON}"
    ),
    "no_key": Cause("The key for the service is missing", f"An administrator sets it {_RESTART}. {_GOES_ON}"),
    "no_address": Cause("The address of the service is wrong", f"An administrator sets it {_RESTART}. {_GOES_ON}"),
    "billing_error": Cause(
        "The account at the service has no credit", f"Somebody adds credit to it; no restart is needed. {_GOES_ON}"
    ),
    "permission_error": Cause(
        "The key may not use this model",
        f"An administrator has the model allowed for this key, or sets another key {_RESTART}. {_GOES_ON}",
    ),
    "not_found_error": Cause(
        "The service does not know this model",
        "This run is bound to the model: stop it, and choose another under “Run again”. Where the address of the "
        f"service is the mistake, an administrator sets it {_RESTART}, and the run goes on from here.",
    ),
    NoVerdict.kind: Cause(
        "The verifier's answers cannot be used",
        "This is a failure of the verifier, and no attempt of the step is used up. It may do better when it is asked "
        "again. If it does not, stop the run, and choose another verifier under “Run again”: steps that have passed "
        "are reused.",
        passes=True,
    ),
    "unknown_job": Cause(
        "Offline rules cannot do this", "Stop the run. Once a model is connected, submit the task again."
    ),
}


def cause_of(kind: str) -> Cause | None:
    """By the kind of the error; None where nothing better than its message is known."""
    return _CAUSES.get(kind)
