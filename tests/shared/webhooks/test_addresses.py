"""The SSRF table: every kind of address that is not public unicast, and the ways around."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.ledger.webhook_destinations import INTERNAL_V4, canonical, is_listed, is_public

FORBIDDEN = {
    "this network": ["0.0.0.0", "0.1.2.3", "::"],
    "private": ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
    "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "link-local and metadata": ["169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0"],
    "metadata over IPv6": ["fd00:ec2::254"],
    "protocol assignments": ["192.0.0.1", "192.0.0.170"],
    "documentation": ["192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1", "3fff::1"],
    "6to4 relay": ["192.88.99.1"],
    "benchmarks": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff05::2"],
    "reserved": ["240.0.0.1", "255.255.255.254"],
    "broadcast": ["255.255.255.255"],
    "unique local": ["fc00::1", "fdff::1"],
    "site-local": ["fec0::1"],
    "discard": ["100::1"],
    "NAT64": ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1"],
    "6to4": ["2002:7f00:1::1", "2002:a9fe:a9fe::1", "2002:808:808::1"],
    "Teredo": ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    "segment routing": ["5f00::1"],
    "mapped": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "[::ffff:192.168.0.1]"],
    "IPv4-compatible": ["::127.0.0.1", "::10.0.0.1"],
    "translated": ["::ffff:0:127.0.0.1"],
    "bracketed": ["[::1]", "[fe80::1%25eth0]", "[fc00::1]"],
}
PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "2600::",
    "::ffff:8.8.8.8",
]


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in FORBIDDEN.items() for text in texts]
)
def test_no_internal_address_is_public(kind: str, text: str) -> None:
    assert not is_public(canonical(text)), kind


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_are(text: str) -> None:
    assert is_public(canonical(text))


@given(st.ip_addresses(v=4))
def test_a_mapped_address_is_judged_as_what_it_maps(address: IPv4Address) -> None:
    assert is_public(canonical(f"::ffff:{address}")) == is_public(address)


@given(st.ip_addresses(v=4))
def test_what_python_calls_special_is_not_public(address: IPv4Address) -> None:
    if not address.is_global or address.is_multicast:
        assert not is_public(address)


@given(st.ip_addresses(v=6))
def test_what_python_calls_special_is_not_public_in_version_6(address: IPv6Address) -> None:
    if not address.is_global or address.is_multicast:
        assert not is_public(canonical(str(address)))


@given(st.sampled_from(INTERNAL_V4), st.integers(min_value=0))
def test_a_whole_network_is_internal(network: object, offset: int) -> None:
    whole = ip_network(str(network))
    assert not is_public(whole[offset % whole.num_addresses])


def test_an_allowed_network_is_one_of_its_own_version() -> None:
    allowed = [ip_network("127.0.0.0/8"), ip_network("fd00::/8")]
    assert is_listed(canonical("127.9.9.9"), allowed)
    assert is_listed(canonical("::ffff:127.0.0.1"), allowed)
    assert is_listed(canonical("fd00::7"), allowed)
    assert not is_listed(canonical("10.0.0.1"), allowed)
    assert not is_listed(canonical("::1"), allowed)
    assert not is_listed(canonical("8.8.8.8"), [])
