"""Starts the whole service on one machine."""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cli.stack.folder import (
    InvalidSettings,
    NotReady,
    acquire_folder,
    check_port_free,
    close,
    load_key,
)
from cli.stack.liveness import STALLED_SECONDS
from cli.stack.processes import (
    Say,
    ServiceNames,
    Supervisor,
    service_processes,
    without_progress,
)
from cli.stack.servers import Postgres, free_port, redis_child
from cli.stack.servers import redis_url as url_of_redis
from cli.stack.startup import await_ready
from services.gateway.site_security import KeyRequiredError, keys_needed
from shared.ledger.engine import connect
from shared.ledger.migrate import UnknownSchemaError, migrate
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import Settings

ALL_SERVICES = ServiceNames()
STACK_FILE = "stack.json"  # in the data folder, while the service is ready


@dataclass(frozen=True)
class Stack:
    """The running service on one machine."""

    url: str
    redis_url: str
    database_url: str
    folder: Path
    supervisor: Supervisor


@contextmanager
def running(
    folder: Path,
    settings: Settings,
    served: ServiceNames = ALL_SERVICES,
    say: Say = without_progress,
    say_at_end: Say = without_progress,
) -> Iterator[Stack]:
    """Start the service, wait until it is ready, and stop it after the block. Raises NotReady with
    the reason if the service cannot start or a process makes no progress."""
    folder = folder.resolve()
    logs = folder / "logs"
    try:
        logs.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=logs):  # it may be there, and read-only
            pass
    except OSError as error:
        reason = f"cannot write into {folder}: {error.strerror}; choose another folder with --var"
        raise NotReady(reason) from None
    check(settings)
    with ExitStack() as held:
        held.enter_context(acquire_folder(folder))
        (folder / STACK_FILE).unlink(missing_ok=True)  # of a service that was killed
        say("PostgreSQL")
        postgres = None if settings.names_servers else Postgres(folder / "postgres", private=True)
        close(folder)  # PostgreSQL's package had opened it
        # longer than a lease and a grace: a worker that is stuck ends itself first and logs why
        supervisor = Supervisor(postgres, logs, silent_seconds=2 * settings.lease_seconds)
        held.callback(supervisor.stop, say_at_end)
        servers = _servers(folder, settings, postgres, supervisor)
        redis_url, database_url = servers["REDIS_URL"], servers["DATABASE_URL"]
        check_exposure(settings, database_url)
        names_files = "files_url" in settings.model_fields_set
        variables = {
            **servers,
            "TOUCHSTONE_FILES_URL": settings.files_url if names_files else str(folder / "files"),
            "TOUCHSTONE_MODELS_FILE": str(settings.models_file.absolute()),
        }
        if settings.webhook_keys is None:
            variables["TOUCHSTONE_WEBHOOK_KEYS"] = load_key(folder, "webhook")
        if settings.secret_keys is None:
            variables["TOUCHSTONE_SECRET_KEYS"] = load_key(folder, "secret")
        port = settings.port or free_port()
        supervisor.start(*service_processes(variables, settings, port, served))
        url = f"http://{settings.host}:{port}"
        stack = Stack(url, redis_url, database_url, folder, supervisor)
        await_ready(supervisor, logs, STALLED_SECONDS, say)
        held.enter_context(_stack_file(stack))
        yield stack


def check(settings: Settings) -> None:
    """Raise NotReady for errors in the settings that can be found before the start."""
    try:
        load_catalogue(settings.models_file)
    except ValueError as error:
        raise InvalidSettings(str(error)) from None
    if {"redis_url", "database_url"} & settings.model_fields_set and not settings.names_servers:
        raise InvalidSettings("only one of REDIS_URL and DATABASE_URL is set; set both, or neither")
    if settings.port:
        check_port_free(settings.host, settings.port)


def check_exposure(settings: Settings, database_url: str) -> None:
    """Raise NotReady if the gateway would serve other machines without keys."""
    engine = connect(database_url)
    try:
        keys_needed(settings, engine)
    except KeyRequiredError as error:
        raise NotReady(str(error)) from None
    finally:
        engine.dispose()


@contextmanager
def _stack_file(stack: Stack) -> Iterator[None]:
    """Write the addresses to `STACK_FILE` for other processes while the stack runs."""
    note = {"url": stack.url, "redis_url": stack.redis_url, "database_url": stack.database_url}
    target = stack.folder / STACK_FILE
    target.touch(mode=0o600)
    target.write_text(json.dumps(note))
    try:
        yield
    finally:
        target.unlink(missing_ok=True)


def _servers(
    folder: Path, settings: Settings, postgres: Postgres | None, supervisor: Supervisor
) -> dict[str, str]:
    """Return environment variables with the addresses of Redis and PostgreSQL. Servers that are not
    in the settings are started here. The database schema is migrated to the current version."""
    redis_url = settings.redis_url.get_secret_value()
    database_url = settings.database_url.get_secret_value()
    if postgres is not None:
        port, password = free_port(), secrets.token_urlsafe(32)
        redis_url, database_url = url_of_redis(port, password), postgres.url
        supervisor.start(redis_child(folder / "redis", port, password))
    try:
        migrate(connect(database_url))
    except UnknownSchemaError as error:
        raise NotReady(str(error)) from error
    return {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
