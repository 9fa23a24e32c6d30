"""A client of Touchstone, the service that scores explanations.

from touchstone_client import Touchstone

ts = Touchstone()
result = ts.hatexscore(text=post, explanation=why, predicted_label="hateful")
result.score, result.verdict, result.reason
"""

from touchstone_client import models, options, webhooks
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

__version__ = CLIENT_VERSION

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
