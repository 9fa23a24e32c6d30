"""Settings: read once at start, frozen, typed.

Only this module and the sources that it reads (`settings_sources`) look at the environment.
"""

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

OTHERS = frozenset({"TOUCHSTONE_REDIS_ADDRESS"})  # for the autoscaler, in the same secret as ours


class Settings(FromEnvironment):
    """Every knob of every process; each is `TOUCHSTONE_<NAME>` unless an alias is given."""

    redis_url: SecretStr = Field(
        default=SecretStr("redis://127.0.0.1:6379/0"),
        validation_alias="REDIS_URL",
        description="the Redis of queues, rate limits and sessions",
    )
    queue_redis: SecretStr | None = Field(
        default=None,
        description="services whose queues are in a Redis of their own: `SERVICE=URL`, blanks "
        "between them, as in `ice=redis://one:6379 ftc=redis://two:6379`; the others are "
        "in REDIS_URL",
    )
    database_url: SecretStr = Field(
        default=SecretStr("postgresql://postgres@127.0.0.1:5432/postgres"),
        validation_alias="DATABASE_URL",
        description="the PostgreSQL that keeps jobs, batches, keys and webhooks",
    )
    stores_tls: Literal["any", "required"] = Field(
        default="any",
        description="`required`: REDIS_URL must be rediss:// with a password, and DATABASE_URL ask "
        "for TLS (sslmode require, verify-ca or verify-full)",
    )
    models_file: Path = Field(
        default=Path("models.toml"), description="the list of models that requests may name"
    )
    models_dir: Path = Field(
        default=Path("var/models"),
        description="weights: `hub/`, the hub client's cache, and `converted/`",
    )
    hub: str = Field(
        default="https://huggingface.co",
        validation_alias="HF_ENDPOINT",
        description="where `touchstone models add` and `pull` find models; no worker goes there",
    )

    host: str = Field(default="127.0.0.1", description="the address that the gateway listens on")
    port: int = Field(default=8000, ge=0, le=65_535, description="of the gateway; 0: any free one")
    host_names: Listed[str] = Field(
        default=(),
        description="names besides loopback ones that a gateway without keys answers to",
    )
    connections: int = Field(default=1_000, ge=1, description="open connections of one gateway")
    connections_per_address: int = Field(
        default=250, ge=1, description="open connections of one client address that is no proxy's"
    )
    proxies: Listed[IPvAnyNetwork] = Field(
        default=(), description="networks whose addresses are shared by many clients"
    )
    concurrent_requests: int = Field(
        default=500,
        ge=1,
        description="requests in one gateway at a time, but for event streams and probes",
    )
    head_seconds: float = Field(
        default=10, gt=0, description="within which a request's head must come whole"
    )
    body_seconds: float = Field(
        default=1_800, gt=0, description="within which a body must come whole"
    )
    body_bytes_per_second: int = Field(
        default=4_096, ge=1, description="a body that comes more slowly for long is given up"
    )
    max_body_bytes: int = Field(
        default=1_048_576, ge=1_024, description="of a request's body, unless it is a file"
    )
    max_bulk_bytes: int = Field(
        default=16_777_216, ge=1_024, description="of one call of `:batchCreate`"
    )
    max_wait_seconds: int = Field(default=30, ge=0, le=30, description="cap of Prefer: wait=N")
    idempotency_hours: int = Field(
        default=24, ge=1, description="how long an `Idempotency-Key` is remembered"
    )

    authentication: Literal["auto", "keys", "none"] = Field(
        default="auto",
        description="`auto`: keys are required as soon as one was made, and without any the "
        "gateway listens on loopback only; `keys`: always; `none`: never, on any host",
    )
    requests_per_minute: int = Field(
        default=600, ge=1, description="of one key, where the key has no limit of its own"
    )
    open_jobs: int = Field(
        default=10_000, ge=1, description="jobs of one tenant that are queued or running"
    )
    open_batches: int = Field(
        default=100, ge=1, description="batches of one tenant that have not ended"
    )
    stored_files: int = Field(
        default=1_000, ge=1, description="files that one tenant has uploaded and keeps"
    )
    stored_bytes: int = Field(
        default=20_000_000_000,
        ge=1,
        description="of one tenant's files; those that batches write count, but are never refused",
    )
    uploads: int = Field(
        default=4, ge=1, description="uploads of one tenant at a time in one gateway process"
    )
    spool_folder: Path | None = Field(
        default=None,
        description="where uploads are kept until complete; none: the system's temporary folder",
    )
    spool_bytes: int = Field(
        default=1_000_000_000,
        ge=1_048_576,
        description="of all uploads at a time in one gateway process",
    )

    webhook_keys: SecretStr | None = Field(
        default=None,
        description="Fernet keys, separated by commas, that seal the endpoints' secrets in the "
        "database: the first seals, all open; none: no webhooks",
    )
    secret_keys: SecretStr | None = Field(
        default=None,
        description="Fernet keys, separated by commas, the same for all processes: they encrypt "
        "texts that must not be stored, calls to models on their way, and the pages' sessions; "
        "none: `do_not_store_text` is refused, and sessions end with the gateway that opened them",
    )
    webhook_allow: Listed[IPvAnyNetwork] = Field(
        default=(), description="networks that webhooks may reach though they are not public"
    )
    webhook_ports: Listed[int] = Field(
        default=(443, 8443),
        description="ports of public addresses for webhooks; allowed networks may use any",
    )
    webhook_seconds: float = Field(
        default=20, gt=0, le=30, description="the length of one attempt, in all"
    )
    webhook_concurrency: int = Field(default=64, ge=1, description="attempts at a time")
    webhook_schedule: Listed[float] = Field(
        default=(0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400),
        min_length=1,
        description="seconds before each attempt, counted from the one before it",
    )
    webhook_days: int = Field(default=30, ge=1, description="how long ended deliveries are kept")

    files_url: str = Field(
        default="var/files",
        description="where files of batches are kept: a folder, or any place that fsspec knows, as "
        "in s3://bucket/folder; the same for gateway and scheduler",
    )
    max_file_bytes: int = Field(default=200_000_000, ge=1, description="of one uploaded file")
    max_batch_lines: int = Field(default=50_000, ge=1, description="of one batch's input file")
    batch_window: int = Field(
        default=500, ge=1, description="jobs of batches in a metric's queue at a time"
    )
    batch_hours: float = Field(default=24, gt=0, description="a batch expires after this time")
    job_retention_hours: float = Field(
        default=720,
        gt=0,
        description="ended jobs and batches are read no more and deleted after this time",
    )
    file_retention_hours: float = Field(
        default=720, gt=0, description="files are deleted after this time, unless they say sooner"
    )

    lease_seconds: float = Field(
        default=60,
        gt=0,
        description="a worker that has not been heard of for this long has lost its job to another",
    )
    heartbeat_seconds: float = Field(
        default=15, gt=0, description="between two signs of life of a worker for its job"
    )
    resend_seconds: float = Field(default=15, gt=0, description="unclaimed for this long: re-send")
    max_attempts: int = Field(
        default=3, ge=1, description="of one job, before it fails with `attempts-exhausted`"
    )
    max_run_seconds: float = Field(
        default=900, gt=0, description="a computation that takes longer is ended as too costly"
    )
    grace_seconds: float = Field(
        default=15,
        gt=0,
        description="for a computation to end by itself at its deadline; after one its thread is "
        "interrupted, after two its process ends",
    )
    max_work_seconds: float = Field(
        default=900,
        gt=0,
        description="seconds of work that one request may ask for, estimated from its sizes; "
        "more is refused with 422 `too-costly`. No more than `max_run_seconds` makes sense",
    )
    tokens_per_second: float = Field(
        default=10_000,
        gt=0,
        description="that the models read in one worker, for the estimate of work: about 10,000 "
        "of the embedded ones on two cores; raise it where a GPU reads",
    )
    server_rows: int = Field(
        default=2_000,
        ge=1,
        description="rows of words that one request may send to a model behind a server, where "
        "each is a request; more is refused with 422 `too-many-rows`",
    )
    retry_seconds: float = Field(
        default=5,
        gt=0,
        description="back-off after a model was unavailable, doubled for each attempt",
    )
    model_wait_hours: float = Field(
        default=24, gt=0, description="after its acceptance a job waits so long for its model"
    )
    model_wait_seconds: float = Field(
        default=10, gt=0, description="before such a job looks for its model again"
    )
    tick_seconds: float = Field(default=1, gt=0, description="the scheduler's pace")

    binding: Literal["local", "queue"] = Field(
        default="local", description="where a metric's worker finds models: in itself, or by queue"
    )
    call_seconds: float = Field(
        default=120, gt=0, description="deadline of a call to a model worker; sent thrice at most"
    )
    padded_tokens: int | None = Field(
        default=None,
        ge=16,
        le=16_777_216,
        description="of one forward pass of the inference service; else found from the free memory",
    )
    openai_seconds: float = Field(
        default=120, gt=0, description="for an answer of an OpenAI-compatible server"
    )
    openai_connect_seconds: float = Field(
        default=5, gt=0, description="for a connection to such a server"
    )
    openai_attempts: int = Field(
        default=4, ge=1, le=10, description="after lost connections, status 429 and 5xx"
    )
    openai_connections: int = Field(
        default=16, ge=1, le=256, description="requests to one server at a time"
    )
    worker_threads: int = Field(
        default=32, ge=1, le=256, description="jobs in one worker at a time: they share its batches"
    )
    batch_threads: int | None = Field(
        default=None,
        ge=1,
        le=256,
        description="jobs of batches in one worker at a time, in addition to the interactive ones; "
        "none: half as many as `worker_threads`",
    )
    warm_up: bool = Field(
        default=True,
        description="whether a worker scores the examples of its services before it takes jobs; "
        "without, it starts in half the processor time, and the first jobs of each language wait "
        "for its analyser",
    )
    batch_share: float = Field(
        default=0.4,
        gt=0,
        le=1,
        description="of one processor that a worker's jobs of batches take while somebody asks "
        "interactively: more ends batches sooner and lets interactive jobs wait longer",
    )
    tenant_share: float = Field(
        default=0.75, gt=0, le=1, description="the most that one tenant's jobs take of the threads"
    )
    metrics_host: str = Field(
        default="127.0.0.1", description="the address that `metrics_port` listens on"
    )
    metrics_port: int | None = Field(
        default=None,
        description="of workers (/healthz, /readyz, /metrics), scheduler and gateway (/metrics); "
        "none: off",
    )
    metrics_public: bool = Field(
        default=False,
        description="whether the gateway answers /metrics on its public port also where keys are "
        "asked for",
    )

    silent_seconds: float = Field(
        default=120,
        gt=0,
        description="of `make serve`: a process that was ready and whose /healthz is not answered "
        "for this long is killed and started again; longer than `lease_seconds` and "
        "`grace_seconds` together, after which a worker that is stuck ends itself and says why",
    )
    stalled_seconds: float = Field(
        default=600,
        gt=0,
        description="of `make serve`: a process that is starting is given up when for this long "
        "its answer stays the same, its log does not grow and it uses no processor time",
    )
    duty_seconds: float = Field(
        default=3_600,
        gt=0,
        description="a scheduler says that it is not well when one of its duties has not come "
        "round for this long",
    )

    trace_url: str = Field(
        default="",
        pattern=r"^(https?://\S{1,500}\{trace_id\}\S{0,500})?$",
        description="where your own tracing shows what was evaluated, as in "
        "https://traces.example.org/trace/{trace_id}; empty: pages show the id alone",
    )
    otlp_endpoint: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="of an OpenTelemetry collector, as in http://collector:4318; none: no traces",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="the least level that is logged"
    )
    log_format: Literal["json", "console"] = Field(
        default="json", description="one JSON object a line, or lines for people"
    )
    access_log: bool = Field(
        default=True, description="of the gateway: a line at level info for each request; or `off`"
    )

    _keys = field_validator("webhook_keys", "secret_keys")(validate_keys)
    _addresses = field_validator("redis_url", "database_url")(validate_url)
    _queues = field_validator("queue_redis")(validate_queue_urls)

    @model_validator(mode="after")
    def _check_stores(self) -> Self:
        if self.stores_tls == "required":
            urls = self.redis_url.get_secret_value(), self.database_url.get_secret_value()
            queues = queue_urls(self.queue_redis).values()
            if faults := unprotected_stores(*urls, *queues):
                raise ValueError("; ".join(faults))
        return self

    def redis_of(self, service: str) -> str:
        """The address of the Redis with the queues of this service."""
        own = None if self.queue_redis is None else queue_urls(self.queue_redis).get(service)
        return own or self.redis_url.get_secret_value()

    @property
    def queue_servers(self) -> dict[str, tuple[str, ...]]:
        """Address → the services that it is named for; REDIS_URL, first, is for all others."""
        found: dict[str, tuple[str, ...]] = {self.redis_url.get_secret_value(): ()}
        for service, url in queue_urls(self.queue_redis).items():
            found[url] = (*found.get(url, ()), service)
        return found

    @property
    def threads_for_batches(self) -> int:
        """Jobs of batches in one worker at a time."""
        return self.batch_threads or max(1, self.worker_threads // 2)

    @property
    def work_limit(self) -> WorkLimit:
        return WorkLimit(self.max_work_seconds, self.tokens_per_second, self.server_rows)

    @property
    def names_servers(self) -> bool:
        """Whether both servers were named, so that embedded ones are not wanted."""
        return self.model_fields_set >= {"redis_url", "database_url"}


def secret(name: str) -> SecretStr | None:
    """The environment variable that `models.toml` names for a server's key, or the text of the file
    that `<name>_FILE` names; None: neither is there."""
    found, path = os.environ.get(name), os.environ.get(f"{name}_FILE")
    if not found and path and Path(path).is_file():
        found = Path(path).read_text().strip()
    return SecretStr(found) if found else None


def environment_default(name: str, value: str) -> None:
    """A variable for libraries that can be told in no other way, unless the user has set it.

    Processes that are started from here inherit it.
    """
    os.environ.setdefault(name, value)


def disable_download() -> None:
    """No library of this process, or of those that it starts, fetches weights: only
    `touchstone models` does. To be called before such a library is imported."""
    os.environ["HF_HUB_OFFLINE"] = "1"


def environment_value(name: str) -> str | None:
    """None where the variable is not set."""
    return os.environ.get(name) or None


class CommandSettings(FromEnvironment):
    """What the command line of the client reads by itself (sdk/); here so that it is a known
    setting and stands in the documentation."""

    url: str = Field(
        default="http://127.0.0.1:8000", description="of the service that the commands speak to"
    )
    api_key: SecretStr | None = Field(
        default=None, description="the key that the commands send, where the service asks for one"
    )


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process."""
    return Settings()


def settings_or_exit() -> Settings:
    """The settings of this process; wrong ones end it with status 2 and a line for each."""
    try:
        return settings()
    except ValidationError as error:
        sys.stderr.write("".join(f"{line}\n" for line in format_errors(error)))
        raise SystemExit(2) from None


def unknown_settings() -> list[tuple[str, str | None]]:
    """Variables that look like settings and are none, each with the nearest name that is one."""
    known = set(OTHERS)
    for name, field in fields_of(Settings) + fields_of(CommandSettings):
        variable = variable_of(name, field)
        known |= {variable, f"{variable}_FILE"} if is_secret(field) else {variable}
    found = [name for name in sorted(os.environ) if name.upper().startswith(PREFIX)]
    return [(name, nearest(name, known)) for name in found if name.upper() not in known]


try:
    SERVICE_VERSION = version("touchstone")
except PackageNotFoundError:  # a checkout that was never installed
    SERVICE_VERSION = "0.0.0+checkout"
