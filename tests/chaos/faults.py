"""What is done to the service, one function a fault; numbered as in the published list."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import redis

from tests.end_to_end.service import Service

AWAY_SECONDS = 30


def kill_inference(service: Service) -> None:
    """The process that computes, mid-task."""
    service.kill("inference")


def kill_metric_worker(service: Service) -> None:
    """The worker that holds the leases."""
    service.kill("hatexscore")


def kill_scheduler(service: Service) -> None:
    """It re-sends, feeds batches and delivers webhooks."""
    service.kill("services.scheduler")


def kill_between_fetch_and_claim(service: Service) -> None:
    """Five times: the worker is stopped with messages in its hands, and dies so."""
    for _ in range(5):
        for process in processes(service, "hatexscore"):
            process.suspend()
            time.sleep(0.5)
            process.kill()
        time.sleep(4)


def restart_redis_ten_times(service: Service) -> None:
    """The broker dies and comes back, under load."""
    for _ in range(10):
        kill_redis(service)
        await_redis(service)
        time.sleep(0.5)


def freeze_redis(service: Service) -> None:
    """Connections stay open and nothing answers: what a half-open link looks like from here."""
    with frozen(_redis(service)):
        time.sleep(AWAY_SECONDS)


def flush_redis(service: Service) -> None:
    """Every message is gone."""
    service.flush_redis()


def kill_gateway_repeatedly(service: Service) -> None:
    """Commits without a hint: whatever waited to be sent dies with the gateway."""
    for _ in range(5):
        service.kill("services.gateway")
        time.sleep(4)


def rolling_update(service: Service) -> None:
    """SIGTERM to everything, one after the other, as a new version would come."""
    for module in ("services.gateway", "hatexscore", "inference", "services.scheduler"):
        for process in processes(service, module):
            process.terminate()
            with suppress(psutil.TimeoutExpired):
                process.wait(45)
        time.sleep(5)


def freeze_postgres(service: Service) -> None:
    """The ledger answers nobody for 30 s."""
    pid_file = service.folder / "postgres" / "postmaster.pid"
    postmaster = psutil.Process(int(pid_file.read_text().split()[0]))
    with frozen([postmaster, *postmaster.children(recursive=True)]):
        time.sleep(AWAY_SECONDS)


def crash_postgres(service: Service) -> None:
    """Every connection breaks at once, and the ledger recovers from its log."""
    service.crash_postgres()


@contextmanager
def frozen(some: list[psutil.Process]) -> Iterator[None]:
    """Stopped, not dead: the kernel still accepts what is sent to them."""
    for process in some:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in some:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)


def processes(service: Service, module: str) -> list[psutil.Process]:
    """Ours of this service, by a word of their command line."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        environment = process.info["environ"] or {}
        line = process.info["cmdline"] or []
        if environment.get("REDIS_URL") == service.redis_url and module in line:
            found.append(process)
    return found


def _redis(service: Service) -> list[psutil.Process]:
    port = service.redis_url.rpartition(":")[2].partition("/")[0]
    return [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if "redis" in (process.info["name"] or "") and _listens(process, port)
    ]


def _listens(process: psutil.Process, port: str) -> bool:
    line = " ".join(process.info["cmdline"] or [])
    return line.endswith(f":{port}") or f"--port {port}" in line


def kill_redis(service: Service) -> None:
    """`kill -9` of the broker; it is started again."""
    for process in _redis(service):
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)


def await_redis(service: Service) -> None:
    """Until it answers."""
    for _ in range(200):
        try:
            with redis.Redis.from_url(service.redis_url, socket_timeout=2) as client:
                client.ping()
        except redis.RedisError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("Redis did not come back")


def faketime_library() -> Path | None:
    """The library that shifts a process's clock, where its wheel is installed."""
    with suppress(ImportError):
        import libfaketime

        return next(Path(libfaketime.__file__).parent.rglob("libfaketime.so.1"), None)
    return None
