"""/v1/files: what comes in goes out unchanged; what is no file, or too large, is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from services.gateway.app import create_app
from shared.process.settings import Settings
from tests.batches import URL, upload

PURPOSE = {"purpose": "batch"}


@hypothesis_settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(content=st.binary(max_size=300_000))
def test_the_bytes_come_back(client: httpx.Client, content: bytes) -> None:
    file = upload(client, content)
    answer = client.get(f"/v1/files/{file['id']}/content")
    assert answer.content == content
    assert file["bytes"] == len(content)
    assert client.get(f"/v1/files/{file['id']}").json() == file


def test_the_same_key_makes_one_file(client: httpx.Client) -> None:
    def sent(content: bytes) -> httpx.Response:
        key, file = {"Idempotency-Key": "once"}, {"file": ("in.jsonl", content)}
        return client.post("/v1/files", data=PURPOSE, files=file, headers=key)

    assert sent(b"{}").json() == sent(b"{}").json()
    for other in (b"{ }", b"[]"):
        assert sent(other).json()["type"].endswith("#idempotency-key-reused")


def test_a_file_has_the_openai_shape(client: httpx.Client) -> None:
    file = upload(client, b"{}", **{"expires_after[seconds]": "3600"})
    assert set(file) == {
        "id",
        "object",
        "bytes",
        "created_at",
        "expires_at",
        "filename",
        "purpose",
        "status",
    }
    assert (file["object"], file["purpose"], file["filename"]) == ("file", "batch", "in.jsonl")
    assert file["expires_at"] - file["created_at"] == 3_600


@pytest.mark.parametrize(
    ("form", "pointer"),
    [
        ({"data": {"purpose": "fine-tune"}, "files": {"file": b"x"}}, "#/purpose"),
        ({"files": {"file": b"x"}}, "#/purpose"),
        ({"data": PURPOSE, "files": {"other": b"x"}}, "#/file"),
        (
            {"data": PURPOSE | {"expires_after[seconds]": "7"}, "files": {"file": b"x"}},
            "#/expires_after[seconds]",
        ),
        ({"data": PURPOSE, "files": [("file", b"x"), ("file", b"y")]}, "#"),
    ],
)
def test_a_bad_form_is_refused_with_its_place(
    client: httpx.Client, chosen: Settings, form: dict[str, Any], pointer: str
) -> None:
    before = sorted(Path(chosen.files_url).iterdir()) if Path(chosen.files_url).exists() else []
    answer = client.post("/v1/files", **form)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert sorted(Path(chosen.files_url).iterdir()) == before


@pytest.mark.parametrize(
    ("kind", "content", "status"),
    [
        ("application/json", b"{}", 415),
        ("multipart/form-data", b"x", 422),
        ("multipart/form-data; boundary=a", b"x", 422),
        ("multipart/form-data; boundary=a", b"--a\r\n\r\nx\r\n--a--", 422),
    ],
)
def test_what_is_no_form_is_refused(
    client: httpx.Client, kind: str, content: bytes, status: int
) -> None:
    answer = client.post("/v1/files", content=content, headers={"Content-Type": kind})
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize("chunked", [False, True])
def test_a_file_over_the_limit_is_refused_before_it_is_read_whole(
    chosen: Settings, chunked: bool
) -> None:
    app = create_app(chosen.model_copy(update={"max_file_bytes": 1_000}))
    boundary, sent = "a", 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal sent
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
        yield head.encode()
        for _ in range(1_000):
            sent += 1
            yield b"x" * 1_000

    async def post() -> httpx.Response:
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        if not chunked:
            headers["Content-Length"] = "1000000"
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/v1/files", content=pieces(), headers=headers)

    answer = asyncio.run(post())
    assert answer.status_code == 413
    assert answer.json()["type"].endswith("body-too-large")
    assert sent < 30


def test_files_are_listed_newest_first_and_by_purpose(client: httpx.Client) -> None:
    ids = [upload(client, b"x")["id"] for _ in range(3)]
    page = client.get("/v1/files", params={"limit": 2}).json()
    assert ([file["id"] for file in page["data"]], page["has_more"]) == (ids[:0:-1], True)
    rest = client.get("/v1/files", params={"after": page["last_id"]}).json()
    assert ([file["id"] for file in rest["data"]], rest["has_more"]) == (ids[:1], False)
    assert [file["id"] for file in client.get("/v1/files?order=asc").json()["data"]] == ids
    assert client.get("/v1/files?purpose=batch_output").json()["data"] == []


def test_batches_and_files_are_listed_by_time_and_batches_by_metadata(
    client: httpx.Client,
) -> None:
    file = upload(client, b"{}")
    asked = {"input_file_id": file["id"], "endpoint": URL}
    batches = [
        client.post("/v1/batches", json=asked | {"metadata": {"user": user}}).json()
        for user in ("a", "b")
    ]
    made = file["created_at"]
    for path, query, expected in (
        ("/v1/files", {"created_after": made}, [file]),
        ("/v1/files", {"created_before": made}, []),
        ("/v1/batches", {"created_after": made}, batches[::-1]),
        ("/v1/batches", {"created_before": made}, []),
        ("/v1/batches", {"metadata[user]": "a"}, batches[:1]),
        ("/v1/batches", {"metadata[user]": "c"}, []),
    ):
        rows = client.get(path, params=query).json()["data"]
        assert [row["id"] for row in rows] == [row["id"] for row in expected], (path, query)


@pytest.mark.parametrize(
    "query",
    ["after=x", "limit=0", "order=up", "purpose=x", "more=1", "metadata[user]=a"],
)
def test_a_bad_list_query_is_refused(client: httpx.Client, query: str) -> None:
    answer = client.get(f"/v1/files?{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "#/" + query.partition("=")[0]


@pytest.mark.parametrize("path", ["x", "file_" + "0" * 32, "..%2f..%2fetc%2fpasswd", "%00"])
def test_an_unknown_file_is_not_found(client: httpx.Client, path: str) -> None:
    for answer in (
        client.get(f"/v1/files/{path}"),
        client.get(f"/v1/files/{path}/content"),
        client.delete(f"/v1/files/{path}"),
    ):
        assert answer.status_code in (404, 405)
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_file_whose_bytes_cannot_be_read_is_away(client: httpx.Client, chosen: Settings) -> None:
    file = upload(client, b"x")
    (Path(chosen.files_url) / f"{file['id']}.jsonl").unlink()
    answer = client.get(f"/v1/files/{file['id']}/content")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
