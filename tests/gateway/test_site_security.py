"""Without keys, pages of other sites get nothing out of a gateway on this machine."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from services.gateway.site_security import name_of, origin_error
from shared.process.settings import Settings
from tests.gateway.conftest import Opens
from tests.gateway.test_scores import GOOD, URL

LOOPBACK = Settings(host="127.0.0.1")
FOREIGN_HOSTS = (
    "elsewhere.example",
    "elsewhere.example:8000",
    "localhost.elsewhere.example",
    "127.0.0.1.elsewhere.example:8000",
    "10.0.0.1",
    "[2001:db8::1]:8000",
    "169.254.169.254",
    "127.0.0.1@elsewhere.example",
    "",
)
OWN_HOSTS = (
    "localhost",
    "LOCALHOST:8000",
    "localhost.:8000",
    "127.0.0.1",
    "127.8.9.1:65535",
    "[::1]",
    "[::1]:8000",
)
CROSS_SITE = (
    {"Origin": "https://elsewhere.example"},
    {"Origin": "null"},
    {"Origin": "evil://localhost"},
    {"Origin": "http://localhost:3000"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://localhost", "Sec-Fetch-Site": "cross-site"},
)


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_name_of_somebody_else_is_not_answered(client: httpx.Client, host: str) -> None:
    for path in ("/", "/v1/jobs", "/healthz", "/openapi.json", "/static/style.css"):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 421
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("host", OWN_HOSTS)
def test_names_of_this_machine_are_answered(client: httpx.Client, host: str) -> None:
    assert client.get("/v1/jobs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("headers", CROSS_SITE)
def test_another_site_cannot_write(client: httpx.Client, headers: dict[str, str]) -> None:
    headers = {"Host": "localhost"} | headers
    known = client.post(URL, json=GOOD).json()["id"]
    for method, path in (
        ("POST", URL),
        ("POST", f"/v1/jobs/{known}/cancel"),
        ("DELETE", "/v1/files/file_" + "0" * 32),
        ("POST", "/v1/files"),
        ("POST", "/settings"),
    ):
        answer = client.request(method, path, json=GOOD, headers=headers)
        assert answer.status_code == 403, path
        assert answer.json()["type"].endswith("#foreign-site")
    assert len(client.get("/v1/jobs").json()["data"]) == 1
    assert client.get(f"/v1/jobs/{known}").json()["status"] == "queued"
    assert client.get("/v1/jobs", headers=headers).status_code == 200  # links to us work


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://localhost:8000", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_our_own_pages_and_programs_write(client: httpx.Client, headers: dict[str, str]) -> None:
    headers = {"Host": "localhost:8000"} | headers
    assert client.post(URL, json=GOOD, headers=headers).status_code == 202


def test_with_keys_names_and_origins_are_free(opens: Opens) -> None:
    headers = {"Host": "touchstone.example", "Origin": "https://elsewhere.example"}
    assert opens().post(URL, json=GOOD, headers=headers).status_code == 202


def test_the_operator_names_more_hosts() -> None:
    named = LOOPBACK.model_copy(update={"host_names": ("Touchstone.example",)})
    headers = Headers({"host": "touchstone.example:8000"})
    assert origin_error("GET", headers, LOOPBACK) is not None
    assert origin_error("GET", headers, named) is None


def test_a_gateway_for_other_machines_has_any_name_unless_some_are_named() -> None:
    public = LOOPBACK.model_copy(update={"host": "0.0.0.0"})
    named = public.model_copy(update={"host_names": ("touchstone.example",)})
    headers = Headers({"host": "anything.example"})
    assert origin_error("GET", headers, public) is None
    assert origin_error("GET", headers, named) is not None
    crossing = Headers({"host": "anything.example", "origin": "https://elsewhere.example"})
    assert origin_error("POST", crossing, public) is not None


@given(st.sampled_from(OWN_HOSTS[:1] + FOREIGN_HOSTS[:3]), st.integers(0, 65_535))
def test_a_port_says_nothing(host: str, port: int) -> None:
    assert name_of(f"{host.partition(':')[0]}:{port}") == name_of(host.partition(":")[0])
