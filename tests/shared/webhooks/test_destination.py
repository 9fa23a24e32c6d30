"""What a URL may look like, before any name is resolved."""

from __future__ import annotations

import asyncio
from ipaddress import ip_network
from socket import inet_aton

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.ledger.webhook_destinations import DestinationPolicy, ForbiddenDestination, read

PUBLIC = DestinationPolicy(allowed=(), ports=(443, 8443))
ELSEWHERE = DestinationPolicy(allowed=(ip_network("10.20.0.0/16"),), ports=(443, 8443))
LOCAL = DestinationPolicy(allowed=(ip_network("127.0.0.0/8"),), ports=(443, 8443))


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


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1:99999/",
        "http://example.com:99999/",
        "https://example.com:65536/",
        "https://example.com:0/",
        "https://example.com:-1/",
        f"https://{'a' * 64}.com/",
        "https://a..com/",
        "https://.com/",
        "https://example.com../",
        "https://example.com.../",
    ],
)
def test_what_no_socket_can_reach_is_refused_whatever_is_allowed(url: str) -> None:
    for policy in (PUBLIC, ELSEWHERE):
        with pytest.raises(ForbiddenDestination):
            policy.check(url)


@pytest.mark.parametrize(
    "host",
    [
        "127.1",
        "127.0.1",
        "0x7f.1",
        "0x7f000001",
        "0X7F.0.0.1",
        "2130706433",
        "017700000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "127.0.0.01",
        "1.2.3.4.5",
        "256.256.256.256",
        "0x",
        "8.8.2056",
        "foo.0x10",
        "example.1",
        "%31%32%37.0.0.1",
        "127.0.0.1%2e",
        "127.0.0.1%00.example.com",
        "127\u30020\u30020\u30021",  # ideographic full stops
        "\uff11\uff12\uff17.0.0.1",  # full-width digits
        "\u2460\u2461\u2466.0.0.1",  # circled digits
        "localhost",
        "LOCALHOST.",
        "anything.localhost",
        "localhost..",
        "localhost.localdomain",
        "127.0.0.1..",
        "\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54",
        "[::127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "[2002:7f00:1::]",
        "[::1%25lo]",
    ],
)
def test_no_spelling_hides_an_address(host: str) -> None:
    for policy in (PUBLIC, ELSEWHERE):
        for port in ("", ":8443"):
            with pytest.raises(ForbiddenDestination):
                policy.check(f"https://{host}{port}/hooks")


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.sampled_from(("{}", "0x{:x}", "0{:o}")))
def test_what_a_socket_reads_as_an_address_is_none_or_is_judged(
    number: int, parts: int, form: str
) -> None:
    """Oracle: inet_aton, which reads every old spelling."""
    *first, last = [
        *((number >> (24 - 8 * place)) & 255 for place in range(parts - 1)),
        number & ((1 << (8 * (5 - parts))) - 1),
    ]
    host = ".".join(form.format(part) for part in (*first, last))
    assert inet_aton(host) == number.to_bytes(4, "big")
    with pytest.raises(ForbiddenDestination):
        PUBLIC.check(f"https://{host}/")


@pytest.mark.parametrize(
    "host", ["1e3.example", "a1.example", "x.0xg", "1.2.3.4.example", "3com.com"]
)
def test_names_with_digits_are_names(host: str) -> None:
    PUBLIC.check(f"https://{host}/")


@pytest.mark.parametrize(
    "host",
    [
        "metadata.google.internal",
        "internal.",
        "redis.touchstone.svc",
        "redis.touchstone.svc.cluster.local",
        "printer.LOCAL.",
        "db.localdomain",
    ],
)
def test_a_name_that_is_only_known_inside_is_refused_unless_networks_are_allowed(host: str) -> None:
    with pytest.raises(ForbiddenDestination):
        PUBLIC.check(f"https://{host}/hooks")
    ELSEWHERE.check(f"https://{host}/hooks")  # judged by its address, at each attempt


@pytest.mark.parametrize("host", ["internal.example.com", "local.example", "svc.example.org."])
def test_only_the_last_label_says_so(host: str) -> None:
    PUBLIC.check(f"https://{host}/hooks")


def test_an_allowed_network_may_be_reached_in_any_way() -> None:
    assert LOCAL.check("http://127.0.0.1:9000/hooks").port == 9_000
    LOCAL.check("http://localhost:9000/hooks")  # its address is known
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


@pytest.mark.parametrize("host", ["redis", "vm", "POSTGRES.", "ip6-localhost", "a-pod"])
def test_a_name_without_a_dot_is_of_a_network_inside(host: str) -> None:
    with pytest.raises(ForbiddenDestination, match="name is not public"):
        PUBLIC.check(f"https://{host}/hooks")


@pytest.mark.parametrize(("address", "may"), [("10.1.2.3", True), ("169.254.169.254", False)])
def test_an_inside_name_must_lead_into_an_allowed_network(address: str, may: bool) -> None:
    """Where networks are allowed, registration resolves such a name and judges its address."""

    async def resolver(_host: str, _port: int) -> list[str]:
        return [address]

    policy = DestinationPolicy(allowed=[ip_network("10.0.0.0/8")], ports=(443,))
    check = policy.check_name(policy.check("https://metadata.internal/"), resolver)
    if may:
        asyncio.run(check)
    else:
        with pytest.raises(ForbiddenDestination, match="address is not public"):
            asyncio.run(check)
