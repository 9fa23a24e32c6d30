"""Fixtures for every test: real PostgreSQL and Redis, started once when a test first asks."""

from __future__ import annotations

import ctypes
import gc
import inspect
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import psutil
import pytest
import redis
from sqlalchemy import Engine, text
from xdist.scheduler import LoadFileScheduling

from cli.stack.servers import Postgres
from shared.ledger.engine import connect, ledger
from shared.ledger.migrate import migrate
from shared.models import ports
from shared.process import redis_client
from shared.process.encryption import new_key
from shared.process.settings import Settings, settings
from shared.queue import broker
from tests.end_to_end.service import Service, serving
from tests.patience import SECONDS, eventually
from tests.servers import redis_server
from tests.shipped import shipped_models
from tests.tiers import runs_with_every_change

# no test depends on the clock of a busy machine: not how long an example takes, nor making one.
# A change is tried with the same examples everywhere; each night looks for new ones
hypothesis.settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "nightly", hypothesis.settings.get_profile("steady"), derandomize=False
)
hypothesis.settings.load_profile("steady")
# nor does one on how soon a busy machine answers: a client that a test asks by gives up late
GIVES_UP = inspect.signature(httpx.get).parameters["timeout"].default
GIVES_UP.connect = GIVES_UP.read = GIVES_UP.write = GIVES_UP.pool = SECONDS

# no test depends on the arithmetic of one processor
os.environ["TOUCHSTONE_DTYPE"] = "float32"
ROOT = Path(__file__).parents[1]
MANY_ROWS = 1_000  # deleted ones slow every later look
OFFLINE = "HF_HUB_OFFLINE"
GROWN_BYTES = 128 * 2**20
_resident = 0  # bytes of this process after the last collection
WHOLE_SERVICE = "whole_service"  # the fixture
# a test asks for it, or for what `tests.sdk.conftest` makes of it
WHOLE = re.compile(r"^def test_\w+\([^)]*\b(whole_service: |service: |ts: )", re.MULTILINE)
OWN = re.compile(r"^def service\(", re.MULTILINE)
SETTINGS = {"TOUCHSTONE_WEBHOOK_ALLOW": "127.0.0.1/32"}  # settings of the service that tests share
TABLES = (  # what names another table stands before it
    "clock",
    "webhook_tests",
    "webhook_deliveries",
    "result_facts",
    "judgements",
    "job_steps",
    "idempotency_keys",
    "batch_lines",
    "review_items",
    "review_queues",
    "webhook_endpoints",
    "score_hours",
    "saved_views",
    "jobs",
    "files",
    "batches",
    "api_keys",
    "tenants",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every-change",
        action="store_true",
        help="leave out what belongs to `make test-all` (tests/tiers.py)",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files that this run does not need: importing one takes longer than many tests."""
    if config.getoption("every_change") and not runs_with_every_change(collection_path):
        return True
    if not (collection_path.match("test_*.py") and collection_path.is_file()):
        return None
    marker, *others = config.getoption("markexpr").split() or [""]
    is_one = marker.isidentifier() and marker != "not" and others[:2] in ([], ["and", "not"])
    return (is_one and f"mark.{marker}" not in collection_path.read_text("utf-8")) or None


class ByFile(LoadFileScheduling):  # type: ignore[misc] # of no known types
    """The tests of one file go to one process, and all that share the whole service, too."""

    def _split_scope(self, nodeid: str) -> str:
        return _scope(ROOT / super()._split_scope(nodeid))


@cache
def _scope(file: Path) -> str:
    """What of this file goes to one process."""
    text = file.read_text("utf-8")
    return WHOLE_SERVICE if WHOLE.search(text) and not OWN.search(text) else str(file)


@pytest.hookimpl(trylast=True)  # of what is left
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--no-loadscope-reorder`: what shares the whole service first, then files of few tests,
    which take minutes each; those of many short ones fill what is left at the end."""
    if config.getoption("loadscopereorder", True):
        return
    tests = Counter(_scope(item.path) for item in items)
    items.sort(key=lambda item: (_scope(item.path) != WHOLE_SERVICE, tests[_scope(item.path)]))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    """For `--dist loadfile`; None: xdist's own."""
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    """The collector need not walk again and again through all modules and tests that there are."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)  # after the fixtures of the file
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Collect garbage at the end of a file after which the process has grown.

    Python's collector counts objects. Models, gateways and TLS contexts are few objects that hold
    much memory of C code, so it would leave gigabytes of them.
    """
    global _resident
    if nextitem is not None and nextitem.path == item.path:
        return
    memory = psutil.Process().memory_info
    if memory().rss > _resident + GROWN_BYTES:
        gc.collect()
        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # of glibc
            trim(0)
        _resident = memory().rss


def pytest_sessionfinish() -> None:
    """What the description's answers are checked against, for `tests.answers_met`."""
    if "tests.answers" in sys.modules:
        from tests import answers_met  # it loads the whole gateway

        answers_met.write()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What the pages took, beside what they may take."""
    for report in terminalreporter.stats.get("passed", ()):
        for name, told in getattr(report, "user_properties", ()):
            if name == "budget" and report.when == "call":
                terminalreporter.write_line(told)


@pytest.fixture(autouse=True)
def _no_switch_stays() -> Iterator[None]:
    """What `disable_download` sets for the rest of a process ends with the test."""
    before = os.environ.get(OFFLINE)
    yield
    if before is None:
        os.environ.pop(OFFLINE, None)
    else:
        os.environ[OFFLINE] = before
    if hub := sys.modules.get("huggingface_hub.constants"):  # it reads the variable when imported
        hub.HF_HUB_OFFLINE = before is not None  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def _started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("whole") / "var", **SETTINGS) as made:
        yield made


@pytest.fixture
def whole_service(_started: Service) -> Service:
    """All services with the embedded models, started once a session; ready, whoever was killed.

    Who uses it leaves no endpoint behind and no crowd of jobs: other tests hear of them.
    """
    eventually(_started.is_ready, "the service is not ready", every=0.2)
    return _started


@pytest.fixture(scope="module")
def _embedded_models() -> Iterator[None]:
    """The models of the checkout's models.toml, in this process."""
    ports.bind(shipped_models())
    yield
    ports.bind(None)


@pytest.fixture(scope="session")
def _postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = Postgres(tmp_path_factory.mktemp("ledger") / "postgres")
    engine = connect(server.url)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for name in ("fsync", "full_page_writes", "synchronous_commit"):  # no power fails here
            connection.execute(text(f"ALTER SYSTEM SET {name} = off"))
        connection.execute(text("SELECT pg_reload_conf()"))
    engine.dispose()
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def _redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("broker")) as url:
        yield url


@pytest.fixture(scope="session")
def _settings(
    _postgres: str, _redis: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", _postgres)
        patch.setenv("REDIS_URL", _redis)
        patch.setenv("TOUCHSTONE_MODELS_FILE", str(Path(__file__).parents[1] / "models.toml"))
        patch.setenv("TOUCHSTONE_WEBHOOK_KEYS", new_key())
        patch.setenv("TOUCHSTONE_SECRET_KEYS", new_key())
        patch.setenv("TOUCHSTONE_WEBHOOK_ALLOW", '["127.0.0.1/32"]')
        patch.setenv("TOUCHSTONE_FILES_URL", str(tmp_path_factory.mktemp("files")))
        patient = redis_client.timeouts(SECONDS)  # a machine that stands still takes no Redis away
        patch.setattr(redis_client, "timeouts", lambda _: patient)
        settings.cache_clear()
        ledger.cache_clear()
        _use_this_broker()
        migrate(ledger())
        yield settings()
        ledger().dispose()
        settings.cache_clear()
        ledger.cache_clear()


def _use_this_broker() -> None:
    """The queue reads its settings once a process: a test that asked it before these servers were
    there, in whatever order the tests run, must not leave it with another broker."""
    broker.app.conf.update(broker.options())
    broker.app._after_fork()  # forgets the pools of connections
    for clients in (broker._redis, broker._sending_redis, broker._prompt_redis):
        clients.cache_clear()


def _empty_ledger() -> None:
    """Deleting the few rows of a test is twenty times faster than new files for every table."""
    everything = ", ".join(TABLES)
    with ledger().begin() as connection:  # who writes still is waited for
        connection.execute(text(f"LOCK TABLE {everything} IN SHARE ROW EXCLUSIVE MODE"))
        rows = [connection.execute(text(f"DELETE FROM {table}")).rowcount for table in TABLES]  # noqa: S608
        if sum(rows) > MANY_ROWS:
            connection.execute(text(f"TRUNCATE {everything}"))


@pytest.fixture
def chosen(_settings: Settings, _redis: str) -> Settings:
    """The settings of these servers, with an empty ledger and an empty broker behind them."""
    _empty_ledger()
    with redis.Redis.from_url(_redis) as client:
        client.flushall()
    return _settings


@pytest.fixture
def engine(chosen: Settings) -> Iterator[Engine]:
    """A pool of the test's own."""
    pool = connect(chosen.database_url.get_secret_value(), pool_size=60)
    yield pool
    pool.dispose()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The hub client's cache of this test, which is not there yet."""
    monkeypatch.setenv("TOUCHSTONE_MODELS_DIR", str(tmp_path / "weights"))
    settings.cache_clear()
    yield tmp_path / "weights" / "hub"
    settings.cache_clear()
