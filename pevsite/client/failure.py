"""How a command ends that cannot do what it was asked for."""

WRONG_USE = 2
"""The exit code of a command that was called wrongly, as of shells and argparse."""


class Failed(Exception):
    """The text is a sentence for the person who started the command. `status` is that of the server, or 0."""

    def __init__(self, sentence: str, *, status: int = 0, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.status = status
        self.exit_code = exit_code
