"""Which address a trusted proxy has reported."""

import pytest

from runs.web.serving.requests import reported_address


@pytest.mark.parametrize(
    ("values", "address"),
    [
        ([], None),
        ([b"203.0.113.9"], "203.0.113.9"),
        ([b"1.2.3.4, 203.0.113.9"], "203.0.113.9"),
        ([b"1.2.3.4", b"203.0.113.9"], "203.0.113.9"),
        ([b"2001:DB8::1"], "2001:db8::1"),
        ([b"unknown"], None),
        ([b"203.0.113.9:443"], None),
        ([b"\xff"], None),
        ([b""], None),
        ([b"<script>"], None),
    ],
)
def test_the_last_address_is_the_one_the_proxy_has_seen(values: list[bytes], address: str | None) -> None:
    assert reported_address(values) == address
