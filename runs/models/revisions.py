"""What a run has otherwise than the run that it is a repetition of, as its row keeps it."""

from runs.contracts.base import Contract


class Files(Contract):
    """Some files: how many, and the first of their paths."""

    count: int = 0
    named: tuple[str, ...] = ()


class Revision(Contract):
    """`policy` has the fields that are others, in words. `excluded`: other files are left unread."""

    changed: Files = Files()
    added: Files = Files()
    removed: Files = Files()
    request: bool = False
    excluded: bool = False
    policy: tuple[str, ...] = ()
