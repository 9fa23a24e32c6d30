"""The settings of a process: typed, read once at start, and then unchanged. Only this module and
the sources that it uses (`settings_sources`) read the environment."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, Self

from pydantic import (
    Field,
    IPvAnyNetwork,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from shared.contracts.request_cost import WorkLimit
from shared.process.settings_sources import (
    PREFIX,
    QUEUES,
    FromEnvironment,
    Listed,
    fields_of,
    format_errors,
    is_secret,
    nearest,
    queue_urls,
    unprotected_stores,
    validate_keys,
    validate_queue_urls,
    validate_url,
    variable_of,
)


class Settings(FromEnvironment):
    """The settings of every process, read from the variable `TOUCHSTONE_<NAME>`, or from the
    variable that the field's alias names."""

    # Stores
    redis_url: SecretStr = Field(
        default=SecretStr("redis://127.0.0.1:6379/0"),
        validation_alias="REDIS_URL",
        description="address of the Redis for queues, rate limits and sessions",
    )
    queue_redis: SecretStr | None = Field(
        default=None,
        description="separate Redis servers for the queues of some services, written as "
        "`SERVICE=URL` with spaces between them: `ice=redis://one:6379 ftc=redis://two:6379`. "
        "All other services use REDIS_URL",
    )
    database_url: SecretStr = Field(
        default=SecretStr("postgresql://postgres@127.0.0.1:5432/postgres"),
        validation_alias="DATABASE_URL",
        description="address of the PostgreSQL for jobs, batches, keys and webhooks",
    )
    stores_tls: Literal["any", "required"] = Field(
        default="any",
        description="`required`: a process starts only if REDIS_URL is rediss:// with a password "
        "and DATABASE_URL asks for TLS (sslmode require, verify-ca or verify-full)",
    )
    files_url: str = Field(
        default="var/files",
        description="storage of batch files: a folder, or an address that fsspec supports, such "
        "as s3://bucket/folder. Gateway and scheduler must use the same storage",
    )

    # Secrets
    webhook_keys: SecretStr | None = Field(
        default=None,
        description="Fernet keys, separated by commas, that encrypt the secrets of webhook "
        "endpoints in the database. The first key encrypts, and all keys decrypt. Without "
        "keys webhooks are off",
    )
    secret_keys: SecretStr | None = Field(
        default=None,
        description="Fernet keys, separated by commas, the same in every process. They encrypt "
        "texts that must not be stored, calls to models in Redis, and page sessions. Without "
        "keys `do_not_store_text` is refused, and sessions end when the gateway stops",
    )

    # Gateway
    host: str = Field(default="127.0.0.1", description="address that the gateway listens on")
    port: int = Field(
        default=8000, ge=0, le=65_535, description="port of the gateway; 0: any free port"
    )
    host_names: Listed[str] = Field(
        default=(),
        description="host names that a gateway without keys accepts, in addition to loopback names",
    )
    proxies: Listed[IPvAnyNetwork] = Field(
        default=(),
        description="networks of your proxies, to which the limit of connections per address "
        "does not apply",
    )
    connections: int = Field(
        default=1_000,
        ge=1,
        description="maximum number of open connections of one gateway; "
        "further ones get status 503",
    )
    max_body_bytes: int = Field(
        default=1_048_576,
        ge=1_024,
        description="maximum size of a request body, except for uploads and `:batchCreate`; "
        "larger bodies get status 413",
    )

    # Access and the limits of one tenant
    authentication: Literal["auto", "keys", "none"] = Field(
        default="auto",
        description="`keys`: every request needs a key; `none`: no request needs a key, on any "
        "host; `auto`: requests need a key once a key exists, and until then the gateway "
        "accepts only connections from its own machine",
    )
    requests_per_minute: int = Field(
        default=600,
        ge=1,
        description="maximum number of requests per minute of one key, unless "
        "the key has its own limit",
    )
    open_jobs: int = Field(
        default=10_000,
        ge=1,
        description="maximum number of queued and running jobs of one tenant; further ones get "
        "status 429",
    )
    stored_bytes: int = Field(
        default=20_000_000_000,
        ge=1,
        description="maximum size of all files of one tenant; further uploads get status 429. "
        "Files that batches write count, but are never refused",
    )

    # Batches and retention
    max_file_bytes: int = Field(
        default=200_000_000,
        ge=1,
        description="maximum size of one uploaded file; larger files get status 413",
    )
    max_batch_lines: int = Field(
        default=50_000,
        ge=1,
        description="maximum number of lines of one batch; a batch with more lines fails",
    )
    batch_window: int = Field(
        default=500,
        ge=1,
        description="maximum number of batch jobs in the queue of one metric at a time",
    )
    batch_hours: float = Field(
        default=24, gt=0, description="hours until an unfinished batch expires"
    )
    retention_hours: float = Field(
        default=720,
        gt=0,
        description="hours until finished jobs, batches and webhook deliveries are deleted, and "
        "files unless the upload sets a shorter time; must be the same in every process",
    )

    # Webhooks
    webhook_allow: Listed[IPvAnyNetwork] = Field(
        default=(), description="private networks to which webhooks may be sent, on any port"
    )
    webhook_seconds: float = Field(
        default=20, gt=0, le=30, description="seconds after which one delivery attempt is abandoned"
    )
    webhook_schedule: Listed[float] = Field(
        default=(0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400),
        min_length=1,
        description="seconds before each delivery attempt, counted from the previous attempt; "
        "after the last attempt the delivery fails",
    )

    # Work of one request
    max_work_seconds: float = Field(
        default=900,
        gt=0,
        description="maximum seconds of work of one request. A request with a higher estimate "
        "gets status 422 `too-costly`; a job that computes for longer fails with the same "
        "error",
    )
    tokens_per_second: float = Field(
        default=10_000,
        gt=0,
        description="tokens that one worker's models read per second, used to estimate the work: "
        "about 10,000 for the embedded models on two cores, more on a GPU",
    )
    server_rows: int = Field(
        default=2_000,
        ge=1,
        description="maximum number of calls that one request may make to a model behind a "
        "server; more get status 422 `too-many-rows`",
    )

    # Workers and scheduler
    worker_threads: int = Field(
        default=32,
        ge=1,
        le=256,
        description="number of interactive jobs that one worker runs at a time. Half as many "
        "batch jobs run in addition",
    )
    warm_up: bool = Field(
        default=True,
        description="whether a worker scores example requests before it takes jobs. `off` halves "
        "the processor time of a start, but the first jobs in each language are slower",
    )
    serve: str = Field(
        default="metrics",
        description="services that workers serve, with spaces between them; requests for other "
        "services get status 503. `metrics`: all metrics",
    )
    lease_seconds: float = Field(
        default=60,
        gt=0,
        description="seconds without a heartbeat after which a worker's job is given to another "
        "worker. Heartbeats are sent, and lost messages are sent again, four times as often",
    )
    tick_seconds: float = Field(
        default=1, gt=0, description="seconds between two rounds of the scheduler"
    )

    # Models
    models_file: Path = Field(default=Path("models.toml"), description="file that lists the models")
    models_dir: Path = Field(
        default=Path("var/models"),
        description="folder of weights: `hub/` is the hub client's cache, `converted/` "
        "the converted models",
    )
    hub: str = Field(
        default="https://huggingface.co",
        validation_alias="HF_ENDPOINT",
        description="model hub of `touchstone models add` and `pull`; workers never use it",
    )
    binding: Literal["local", "queue"] = Field(
        default="local",
        description="`local`: a metric's worker loads the models; `queue`: a metric's worker "
        "calls the model workers",
    )
    call_seconds: float = Field(
        default=120,
        gt=0,
        description="seconds until an unanswered call to a model worker is sent again, at most "
        "twice",
    )
    dtype: Literal["auto", "float32"] = Field(
        default="auto",
        description='number type on a CPU of models with `dtype = "auto"`. `auto`: encoders '
        "compute in bfloat16 if the CPU supports it; `float32`: the same request returns the same "
        "bytes",
    )

    # Monitoring
    metrics_host: str = Field(
        default="127.0.0.1", description="address that `TOUCHSTONE_METRICS_PORT` listens on"
    )
    metrics_port: int | None = Field(
        default=None,
        description="port for /metrics of every process, and /healthz and /readyz of workers and "
        "scheduler; none: no port",
    )
    otlp_endpoint: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="OpenTelemetry collector, such as http://collector:4318; none: no traces",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="lowest level that is logged"
    )
    log_format: Literal["json", "console"] = Field(
        default="json", description="`json`: one object per line; `console`: lines for people"
    )

    _keys = field_validator("webhook_keys", "secret_keys")(validate_keys)
    _addresses = field_validator("redis_url", "database_url")(validate_url)
    _queues = field_validator("queue_redis")(validate_queue_urls)

    @model_validator(mode="after")
    def _check_stores(self) -> Self:
        if self.stores_tls == "required":
            urls = self.redis_url.get_secret_value(), self.database_url.get_secret_value()
            queues = queue_urls(self.queue_redis).values()
            faults = unprotected_stores(*urls, *queues)
            # some processes have no Redis, or no database: only addresses that were given count
            configured = {name.upper() for name in self.model_fields_set} | {QUEUES}
            if faults := [fault for fault in faults if fault.split()[0] in configured]:
                raise ValueError("; ".join(faults))
        return self

    def redis_of(self, service: str) -> str:
        address = None if self.queue_redis is None else queue_urls(self.queue_redis).get(service)
        return address or self.redis_url.get_secret_value()

    @property
    def queue_servers(self) -> dict[str, tuple[str, ...]]:
        """Map each address to the services assigned to it. REDIS_URL comes first and serves all
        other services."""
        servers: dict[str, tuple[str, ...]] = {self.redis_url.get_secret_value(): ()}
        for service, url in queue_urls(self.queue_redis).items():
            servers[url] = (*servers.get(url, ()), service)
        return servers

    @property
    def threads_for_batches(self) -> int:
        """The number of batch jobs that one worker computes at a time."""
        return max(1, self.worker_threads // 2)

    @property
    def heartbeat_seconds(self) -> float:
        """Seconds between two heartbeats of a worker for its jobs."""
        return self.lease_seconds / 4

    @property
    def resend_seconds(self) -> float:
        """Seconds until the message of an unclaimed job is sent again."""
        return self.lease_seconds / 4

    @property
    def work_limit(self) -> WorkLimit:
        return WorkLimit(self.max_work_seconds, self.tokens_per_second, self.server_rows)

    @property
    def names_servers(self) -> bool:
        """Return True if the addresses of both stores are set, so that embedded stores are not
        needed."""
        return self.model_fields_set >= {"redis_url", "database_url"}


def secret(name: str) -> SecretStr | None:
    """Return the secret in the environment variable `name`, or in the file that `<name>_FILE`
    names, or None. `models.toml` names such variables for servers' keys."""
    value, path = os.environ.get(name), os.environ.get(f"{name}_FILE")
    if not value and path and Path(path).is_file():
        value = Path(path).read_text().strip()
    return SecretStr(value) if value else None


def environment_default(name: str, value: str) -> None:
    """Set an environment variable for libraries that can be configured in no other way, unless the
    user has set it. Child processes inherit it."""
    os.environ.setdefault(name, value)


def disable_download() -> None:
    """Forbid downloads of weights by libraries in this process and its children; only `touchstone
    models` downloads. Call it before such a library is imported."""
    os.environ["HF_HUB_OFFLINE"] = "1"


def environment_value(name: str) -> str | None:
    """Return the variable's value, or None if it is unset or empty."""
    return os.environ.get(name) or None


class CommandSettings(FromEnvironment):
    """The settings that the client's command line reads itself (sdk/), listed here for the
    documentation and the check of unknown names."""

    url: str = Field(default="http://127.0.0.1:8000", description="address of the service")
    api_key: SecretStr | None = Field(
        default=None, description="API key that the commands send; none: no key"
    )


@lru_cache(maxsize=1)
def settings() -> Settings:
    return Settings()


def settings_or_exit() -> Settings:
    """Return the settings. If some are invalid, exit with status 2 and one line for each."""
    try:
        return settings()
    except ValidationError as error:
        sys.stderr.write("".join(f"{line}\n" for line in format_errors(error)))
        raise SystemExit(2) from None


def unknown_settings() -> list[tuple[str, str | None]]:
    """Return variables that look like settings but are not, each with the most similar known
    name."""
    variables = set[str]()
    for name, field in fields_of(Settings) + fields_of(CommandSettings):
        variable = variable_of(name, field)
        variables |= {variable, f"{variable}_FILE"} if is_secret(field) else {variable}
    names = [name for name in sorted(os.environ) if name.upper().startswith(PREFIX)]
    return [(name, nearest(name, variables)) for name in names if name.upper() not in variables]


try:
    SERVICE_VERSION = version("touchstone-server")
except PackageNotFoundError:  # a checkout that was never installed
    SERVICE_VERSION = "0.0.0+checkout"
