"""Shares in percent, for people."""


def percent(share: float) -> str:
    """A share from 0 to 1 with at most three digits: `90 %`, `95.5 %`."""
    return f"{share * 100:.3g} %"
