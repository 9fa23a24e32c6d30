"""Logs: one JSON object a line on stderr, for our own events and for those of the libraries."""

from __future__ import annotations

import logging
import logging.config
import re
import sys
from collections.abc import MutableMapping
from contextlib import AbstractContextManager
from typing import Any

import structlog

CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")  # user:password@ of any URL
SECRETS = re.compile(r"(?:tsk_|whsec_)[A-Za-z0-9_+/=-]{8,}|(?<=[Bb]earer )[^\s,'\"]+")
SECRET_NAMES = frozenset({"authorization", "password", "secret", "api_key", "token"})

Event = MutableMapping[str, Any]


def without_secrets(_logger: Any, _method: str, event: Event) -> Event:
    """Blot out fields with secret names, API keys, webhook secrets, the credentials of URLs."""
    for name, value in event.items():
        event[name] = "[redacted]" if name.lower() in SECRET_NAMES else _blotted(value)
    return event


def _blotted(value: Any) -> Any:
    if isinstance(value, str):
        return SECRETS.sub("[redacted]", CREDENTIALS.sub("[redacted]@", value))
    if isinstance(value, dict):
        return without_secrets(None, "", value.copy())
    if isinstance(value, (list, tuple)):
        return [_blotted(item) for item in value]
    return value


def configure(level: str, style: str) -> None:
    """Send everything that this process logs to stderr; `style` is `json` or `console`."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            without_secrets,
            renderer,
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    logging.getLogger("httpx").setLevel("WARNING")  # else a line for every request
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def about(**fields: str) -> AbstractContextManager[None]:
    """Whatever is logged within, by a library too, carries these fields."""
    return structlog.contextvars.bound_contextvars(**fields)


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """A named logger: `logger(__name__).info("job.finished", job=…)`."""
    bound: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return bound
