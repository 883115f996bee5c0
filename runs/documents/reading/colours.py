"""Colours of words and of what is behind them: whether people can tell them apart."""

NEAR = 12
"""Of 255: two colours that differ by no more than this in red, green and blue are indistinguishable."""
type Rgb = tuple[float, float, float]
"""Red, green and blue, each from 0 to 255."""


def are_alike(colour: Rgb, other: Rgb) -> bool:
    return all(abs(one - two) <= NEAR for one, two in zip(colour, other, strict=True))


def over(colour: Rgb, alpha: float, ground: Rgb) -> Rgb:
    """A colour that lets through what is behind it, unless `alpha` is 1."""
    red, green, blue = (alpha * one + (1 - alpha) * two for one, two in zip(colour, ground, strict=True))
    return red, green, blue
