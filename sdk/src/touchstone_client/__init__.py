"""A client of Touchstone, the service that scores explanations.

from touchstone_client import Touchstone

ts = Touchstone()
result = ts.hatexscore(text=post, explanation=why, decision="hateful")
result.score, result.verdict, result.reason
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from touchstone_client import options, webhooks
from touchstone_client._async.client import AsyncTouchstone
from touchstone_client._async.handles import AsyncBatch, AsyncJob
from touchstone_client._http import CLIENT_VERSION
from touchstone_client._lines import BatchLine
from touchstone_client._sync.client import Touchstone
from touchstone_client._sync.handles import Batch, Job
from touchstone_client._tables import Scores
from touchstone_client.errors import (
    ApiError,
    BadRequest,
    BatchFailed,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidSignature,
    JobCancelled,
    JobFailed,
    NotFound,
    RateLimited,
    TimedOut,
    TouchstoneError,
    Unauthenticated,
    Unavailable,
)
from touchstone_client.local import Local

if TYPE_CHECKING:
    from touchstone_client import models

__version__ = CLIENT_VERSION


def __getattr__(name: str) -> Any:
    """Import the module `models` when it is first used."""
    if name != "models":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.models")


__all__ = [
    "ApiError",
    "AsyncBatch",
    "AsyncJob",
    "AsyncTouchstone",
    "BadRequest",
    "Batch",
    "BatchFailed",
    "BatchLine",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "InvalidSignature",
    "Job",
    "JobCancelled",
    "JobFailed",
    "Local",
    "NotFound",
    "RateLimited",
    "Scores",
    "TimedOut",
    "Touchstone",
    "TouchstoneError",
    "Unauthenticated",
    "Unavailable",
    "__version__",
    "models",
    "options",
    "webhooks",
]
