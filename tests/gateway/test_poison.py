"""No input makes a 500: every place of every message, parameter, header and form is tried."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from services.gateway.openapi import parameters_of
from services.registry import all_contracts
from tests.batches import URL
from tests.poison import TEXTS, places, planted, raw_values

JSON = {"Content-Type": "application/json"}
HEADERS = (
    *("idempotency-key", "prefer", "content-type", "authorization", "cookie", "last-event-id"),
    *("x-request-id", "accept", "user-agent"),
)
VALUES = (
    *(b"\x00", b"a\xff\xfe", b"\xed\xa0\x80", b"\x1b[0m", b'"\\"', b"x" * 20_000),
    *(b"wait=" + b"9" * 5_000, b"wait=-1", b"application/json; charset=\xff"),
)
NO_ID = "0" * 32
PAGES = ("/", "/jobs", "/batches", "/login", "/try/hatexscore", f"/batches/batch_{NO_ID}")
OF_PAGES = ("after", "status", "metric", "next", "reason", "text", "q", "line", "page", "variant")
DISPOSITION = b"--a\r\nContent-Disposition: form-data; name="
PART = DISPOSITION + b"%s\r\n\r\n%s\r\n"
FILE = DISPOSITION + b'"file"; filename%s\r\n\r\n{}\r\n--a--\r\n'
CHARSETS = ("utf-8", "utf-16", "rot13", "idna", "nobody")


def bodies() -> dict[str, dict[str, Any]]:
    """path → a body that it takes, with every field that a caller may choose."""
    shared = {"metadata": {"a": "b"}, "context": {"puid": "p"}, "webhook": f"we_{NO_ID}"}
    found = {
        contract.path: next(iter(contract.examples.values())) | shared
        for contract in all_contracts().values()
        if contract.examples
    }
    return found | {
        "/v1/scores:batchCreate": {"metric": "hatexscore", "requests": [found[URL]]},
        "/v1/batches": {
            "input_file_id": f"file_{NO_ID}",
            "endpoint": URL,
            "completion_window": "24h",
            "metadata": {"a": "b"},
            "output_expires_after": {"anchor": "created_at", "seconds": 3_600},
        },
        "/v1/webhook-endpoints": {
            "url": "https://example.com/a",
            "events": ["job.failed"],
            "description": "x",
        },
    }


@pytest.mark.parametrize("path", sorted(bodies()))
def test_no_value_of_a_body_is_our_fault(client: httpx.Client, path: str) -> None:
    body = bodies()[path]
    for place in places(body):
        for name, raw in raw_values():
            answer = client.post(path, content=planted(body, place, raw), headers=JSON)
            assert answer.status_code < 500, (place, name, answer.text[:500])


def operations(client: httpx.Client) -> Iterator[tuple[str, str, list[str]]]:
    """(method, path, names in the query) of all; names in the path stand in it in braces."""
    description = client.get("/openapi.json").json()
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            named = parameters_of(description, operation)
            yield method, path, [one["name"] for one in named if one["in"] == "query"]


def addresses(path: str, in_query: list[str], tried: str) -> list[str]:
    """The path with this text in each of its places."""
    if "{" in path:
        before, _, after = path.partition("{")
        return [before + tried + after.partition("}")[2]]
    return [f"{path}?{name}={tried}" for name in in_query]


@pytest.mark.parametrize(
    "share", [pytest.param(1, marks=pytest.mark.nightly, id="each"), pytest.param(4, id="day")]
)
def test_no_parameter_is_our_fault(client: httpx.Client, share: int) -> None:
    """By day each text at every fourth address, so that each address meets some."""
    short = [one.encode("utf-8", "surrogatepass") for one in TEXTS.values() if len(one) < 9_000]
    texts = [*map(quote, short), "%ff%fe", "9" * 5_000, "-1", "1e999", "%"]
    pages = [("get", path, list(OF_PAGES)) for path in PAGES]
    for place, (method, path, in_query) in enumerate([*operations(client), *pages]):
        for tried in texts[place % share :: share]:
            for address in addresses(path, in_query, tried):
                with client.stream(method, address) as answer:
                    assert answer.status_code < 500, (method, address[:200])


def status_of(url: httpx.URL, line: str, header: bytes, body: bytes) -> int:
    """What a request with this header is answered with; no client's library looks at it first."""
    length = b"Content-Length: %d\r\n" % len(body)
    head = line.encode() + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + length
    with socket.create_connection((url.host, url.port or 80), timeout=60) as connection:
        connection.sendall(head + header + b"\r\n\r\n" + body)
        answer = connection.makefile("rb").readline()
    return int(answer.split()[1])


@pytest.mark.parametrize("name", HEADERS)
def test_no_header_is_our_fault(client: httpx.Client, name: str) -> None:
    lines = {f"POST {path}": json.dumps(bodies()[path]).encode() for path in (URL, "/v1/batches")}
    lines |= {"POST /login": b"key=x", "GET /v1/jobs": b"", "GET /": b""}
    for value in VALUES:
        for line, body in lines.items():
            header = name.encode() + b": " + value
            if name != "content-type":
                header += b"\r\nContent-Type: application/json"
            assert status_of(client.base_url, line, header, body) < 500, (line, header[:60])


@pytest.mark.parametrize("charset", CHARSETS)
def test_no_form_is_our_fault_and_its_file_can_be_found(client: httpx.Client, charset: str) -> None:
    kind = {"Content-Type": f"multipart/form-data; charset={charset}; boundary=a"}
    good = PART % (b'"purpose"', b"batch")
    for tried in (one.encode("utf-8", "surrogatepass") for one in TEXTS.values()):
        for content in (
            good + FILE % (b'="%s"' % tried),
            good + FILE % b"*=utf-8''%00%ed%a0%80",
            PART % (b'"purpose"', tried) + FILE % b'="x"',
            PART % (b'"%s"' % tried, b"batch") + FILE % b'="x"',
            good + PART % (b'"expires_after[seconds]"', tried) + FILE % b'="x"',
        ):
            answer = client.post("/v1/files", content=content, headers=kind)
            assert answer.status_code < 500, (content[:200], answer.text[:300])
            if answer.status_code == 200:
                url = f"/v1/files/{answer.json()['id']}"
                assert client.get(url).json() == answer.json()
                assert client.get(f"{url}/content").content == b"{}"
