"""Colours of text and background, and whether people can tell them apart."""

NEAR = 12
"""Two colours that differ by at most this much (of 255) in red, green and blue are indistinguishable."""
type Rgb = tuple[float, float, float]
"""Red, green and blue, each from 0 to 255."""


def are_alike(colour: Rgb, other: Rgb) -> bool:
    return all(abs(one - two) <= NEAR for one, two in zip(colour, other, strict=True))


def over(colour: Rgb, alpha: float, ground: Rgb) -> Rgb:
    """Blends a colour with its background. `alpha` of 1 is opaque."""
    red, green, blue = (alpha * one + (1 - alpha) * two for one, two in zip(colour, ground, strict=True))
    return red, green, blue
