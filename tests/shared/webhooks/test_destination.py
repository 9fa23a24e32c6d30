"""What a URL may look like, before any name is resolved."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from shared.webhooks.destination import ForbiddenDestination, Policy, read

PUBLIC = Policy(allowed=(), ports=(443, 8443))
LOCAL = Policy(allowed=(ip_network("127.0.0.0/8"),), ports=(443, 8443))


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/hooks",
        "https://example.com:8443/hooks?a=b",
        "HTTPS://EXAMPLE.com",
        "https://xn--mnchen-3ya.de/",
        "https://münchen.de/",
        "https://8.8.8.8/",
        "https://[2606:4700:4700::1111]/",
    ],
)
def test_public_https_is_fine(url: str) -> None:
    PUBLIC.check(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "https://example.com:22/",
        "https://example.com:6379/",
        "http://example.com:443/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "example.com/hooks",
        "//example.com/hooks",
        "https://",
        "https:///hooks",
        "",
        "https://user:secret@example.com/",
        "https://example.com@127.0.0.1/",
        "https://example.com/#fragment",
        "https://127.0.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[fe80::1%25eth0]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://0.0.0.0/",
        "https://example.com:99999/",
        "https://example.com:x/",
        "https://exa mple.com/",
        "https://example.com/\n",
        "https://example.com/" + "x" * 2_048,
    ],
)
def test_everything_else_is_forbidden(url: str) -> None:
    with pytest.raises(ForbiddenDestination):
        PUBLIC.check(url)


def test_an_allowed_network_may_be_reached_in_any_way() -> None:
    assert LOCAL.check("http://127.0.0.1:9000/hooks").port == 9_000
    LOCAL.check("http://localhost:9000/hooks")  # judged when its address is known
    with pytest.raises(ForbiddenDestination):
        LOCAL.check("http://10.0.0.1:9000/")
    with pytest.raises(ForbiddenDestination):
        LOCAL.check("http://8.8.8.8/")


@pytest.mark.parametrize(
    ("url", "host", "header", "target"),
    [
        ("https://example.com", "example.com", "example.com", "/"),
        ("https://example.com:443/a?b=c", "example.com", "example.com", "/a?b=c"),
        ("http://example.com:8080/ä", "example.com", "example.com:8080", "/%C3%A4"),
        ("https://münchen.de/", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de", "/"),
        ("https://[2600::1]:8443/", "2600::1", "[2600::1]:8443", "/"),
    ],
)
def test_a_url_is_read_into_what_is_sent(url: str, host: str, header: str, target: str) -> None:
    found = read(url)
    assert (found.host, found.host_header, found.target) == (host, header, target)
