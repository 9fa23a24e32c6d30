"""`do_not_store_text`: once its job has ended, a text is in no file of the service.

Every byte under the service's folder is searched: PostgreSQL's pages and write-ahead log, Redis's
append-only file, the files of batches, logs, what uploads were spooled to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import redis
from sqlalchemy import text

from shared.ledger.engine import connect
from tests.answers import CheckedClient
from tests.end_to_end.batch import ended, patiently, started
from tests.end_to_end.service import Service, serving
from tests.patience import SECONDS, eventually

pytestmark = pytest.mark.end_to_end

PATIENCE_SECONDS = 180
OPEN_SECONDS = 8  # of the batch that expires
SERVED = ("--services", "hatexscore", "inference", "similarity")
APART, TOGETHER = ("--separate", *SERVED), SERVED


@pytest.fixture(
    scope="module",
    # apart, what a model is asked goes through Redis, too
    params=[
        pytest.param(APART, id="apart"),
        pytest.param(TOGETHER, id="together", marks=pytest.mark.nightly),
    ],
)
def service(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("private")
    spool = folder / "spool"
    spool.mkdir(mode=0o700)
    hours = str(OPEN_SECONDS / 3_600)
    with serving(
        folder, *request.param, TOUCHSTONE_BATCH_HOURS=hours, TMPDIR=str(spool)
    ) as running:
        yield running


def marked(ending: str) -> tuple[str, str, str]:
    """Three strings that stand nowhere else: of the text, the explanation, a quotation."""
    return (f"zq{ending}texta", f"zq{ending}explaina", f"zq{ending}quota")


def body(ending: str, **more: Any) -> dict[str, Any]:
    """A request whose text, explanation and quotation bear marks."""
    first, second, third = marked(ending)
    return {
        "text": f"{first} Those immigrants {third} are ruining our town",  # the model agrees
        "explanation": f'The post says "immigrants {third} are" {second}. It is hateful.',
        "decision": "hateful",
        "options": {"control_draws": 2},
    } | more


def files_with(folder: Path, mark: str) -> set[str]:
    """Where these bytes stand, by path under the folder. A file that goes meanwhile holds none."""
    found = set()
    for file in folder.rglob("*"):
        try:
            if file.is_file() and not file.is_symlink() and mark.encode() in file.read_bytes():
                found.add(str(file.relative_to(folder)))
        except FileNotFoundError:
            continue
    return found


def flushed(service: Service) -> None:
    """What is on its way to files is in them."""
    engine = connect(service.database_url)
    with engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("CHECKPOINT"))
    engine.dispose()
    with redis.Redis.from_url(service.redis_url) as client:
        client.bgrewriteaof()
    time.sleep(2)  # appendfsync everysec


def vacuumed(service: Service) -> None:
    """What is deleted is in no table and no segment of the write-ahead log."""
    engine = connect(service.database_url)
    with engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.execute(text("SELECT pg_reload_conf()"))  # as of every later start
        connection.execute(text("VACUUM FULL"))
        for _ in range(2):  # a segment stays until the checkpoint after the next
            connection.execute(text("SELECT pg_switch_wal()"))
            connection.execute(text("CHECKPOINT"))
    engine.dispose()


def ended_job(client: httpx.Client, body: dict[str, Any], path: str) -> dict[str, Any]:
    """The job of this request at its end."""
    job = patiently(client, "POST", path, json=body).json()
    assert "id" in job, job
    return until(client, f"/v1/jobs/{job['id']}", lambda found: found["finished_at"] is not None)


def until(
    client: httpx.Client, path: str, done: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """What this path answers once it is as it should be."""

    def answered() -> dict[str, Any] | None:
        found: dict[str, Any] = patiently(client, "GET", path).json()
        return found if done(found) else None

    return eventually(answered, f"{path} is not so", seconds=PATIENCE_SECONDS, every=0.1)


def suspended(service: Service) -> list[psutil.Process]:
    """The workers, stopped: what is sent to them waits."""
    workers = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        environment = process.info["environ"] or {}
        if environment.get("REDIS_URL") != service.redis_url:
            continue
        if "services.worker" in (process.info["cmdline"] or []):
            process.suspend()
            workers.append(process)
    assert workers
    return workers


def test_a_text_is_in_no_file_however_its_job_ended(service: Service) -> None:
    kept_back = {"do_not_store_text": True}
    with CheckedClient(base_url=service.url, timeout=SECONDS) as client:
        succeeded = ended_job(client, body("good") | kept_back, "/v1/scores/hatexscore")
        assert succeeded["status"] == "succeeded", succeeded["error"]
        assert succeeded["result"]["score"] is not None

        wrong = marked("wrong")[0]
        asked: dict[str, Any] = {
            "operation": "attributions",
            "examples": [{"text": wrong}],
            "targets": [wrong],
        }
        asked["method"] = {"name": "gradient"}
        failing = {"model": "embedded-hate", "ask": asked} | kept_back
        failed = ended_job(client, failing, "/v1/inference")
        assert failed["status"] == "failed"

        workers = suspended(service)
        open_job = patiently(
            client, "POST", "/v1/scores/hatexscore", json=body("ended") | kept_back
        ).json()
        cancelled = patiently(client, "POST", f"/v1/jobs/{open_job['id']}/cancel").json()
        assert cancelled["status"] == "cancelled"
        batch = started(
            client,
            [
                {
                    "custom_id": "a",
                    "method": "POST",
                    "url": "/v1/scores/hatexscore",
                    "body": body("late") | kept_back,
                }
            ],
            "/v1/scores/hatexscore",
        )
        expired = ended(client, batch, PATIENCE_SECONDS).batch
        assert expired["status"] == "expired", expired
        for worker in workers:
            worker.resume()
        assert ended_job(client, body("plain"), "/v1/scores/hatexscore")["status"] == "succeeded"
    flushed(service)
    for ending in ("good", "wrong", "ended", "late"):
        for mark in marked(ending):
            assert files_with(service.folder, mark) == set()
    assert files_with(service.folder, marked("plain")[0])  # the search finds what is kept


def test_an_erased_text_is_in_no_file_after_vacuum(service: Service) -> None:
    mine, endpoint = {"metadata": {"user": "u17"}}, "/v1/scores/hatexscore"
    lines: list[dict[str, Any] | bytes] = [
        {"custom_id": name, "method": "POST", "url": endpoint, "body": body(name) | mine}
        for name in ("answered", "faulty")
    ]
    with CheckedClient(base_url=service.url, timeout=SECONDS) as client:
        assert ended_job(client, body("alone") | mine, endpoint)["status"] == "succeeded"
        for file in (lines[:1], [*lines[1:], b"{not JSON"]):
            ended(client, started(client, file, endpoint), PATIENCE_SECONDS)
        marks = [mark for name in ("alone", "answered", "faulty") for mark in marked(name)]
        assert all(files_with(service.folder, mark) for mark in marks)
        erased = client.delete("/v1/jobs", params={"metadata[user]": "u17"}).json()
        assert (erased["lines"], erased["open"]) == (2, 0)
    vacuumed(service)
    flushed(service)
    assert {mark: files_with(service.folder, mark) for mark in marks} == {
        mark: set() for mark in marks
    }


def test_nobody_else_reads_what_lies_in_the_folder(service: Service) -> None:
    assert service.folder.stat().st_mode & 0o077 == 0
    open_to_others = [
        path
        for path in service.folder.rglob("*")
        if not path.is_symlink()
        and path.stat().st_mode & 0o077
        and (service.folder / "postgres") not in path.parents
    ]
    assert open_to_others == []


def test_redis_asks_for_the_password(service: Service) -> None:
    without = service.redis_url.partition("@")[2]
    with (
        redis.Redis.from_url(f"redis://{without}") as client,
        pytest.raises(redis.exceptions.AuthenticationError),
    ):
        client.ping()
