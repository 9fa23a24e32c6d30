"""Encodes requests and decodes responses."""

from __future__ import annotations

import json
import math
import uuid
import warnings
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel

from touchstone_client._base import JobMessage
from touchstone_client._http import CLIENT_VERSION, Answer
from touchstone_client._messages import models

Fields = Mapping[str, Any]
NOTHING: Fields = MappingProxyType({})
METRICS = ("hatexscore", "ice", "haf", "ftc", "hlv", "cot2el", "sor", "consistency")
OTHERS = ("explanations", "inference", "similarity")  # services that are not metrics
DETAILS: dict[str, Any] = {"expand": "details"}  # of results: what only their metric has
ENDED = frozenset({"succeeded", "failed", "cancelled"})
BATCH_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
MOST_WAIT_SECONDS = 30  # that the service waits for an end

M = TypeVar("M", bound=BaseModel)


def encoded(value: Any) -> bytes:
    """Return the value as JSON without fields that were not set. Raises ValueError with the name of
    a field that is NaN."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    except ValueError:
        if fault := next(_not_finite(value, ""), None):
            raise ValueError(f"{fault[0]} is {fault[1]}, which JSON cannot represent") from None
        raise
    return text.encode("utf-8", "surrogatepass")


def part_of(selection: str) -> dict[str, Any]:
    """Return the report fields that select a batch or a part of it. A part is written as
    `batch_…:metadata.KEY=VALUE` or `batch_…:model=NAME`. Raises ValueError for any other form."""
    batch, _, part = selection.partition(":")
    key, sign, value = part.partition("=")
    metadata_key = key.removeprefix("metadata.")
    if not part:
        return {"batch": batch}
    if sign and key == "model":
        return {"batch": batch, "of_model": value}
    if sign and metadata_key and metadata_key != key:
        return {"batch": batch, "of_metadata": {metadata_key: value}}
    raise ValueError(
        f"{selection!r} does not select a part of a batch; write ID:metadata.KEY=VALUE or "
        "ID:model=NAME"
    )


def _not_finite(value: Any, path: str) -> Iterator[tuple[str, float]]:
    """Yield the (path, value) of numbers that JSON cannot represent, for example
    ("options[1].share", nan)."""
    if isinstance(value, float) and not math.isfinite(value):
        yield path or "the value", value
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _not_finite(item, f"{path}[{number}]")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _not_finite(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, BaseModel) or hasattr(value, "tolist"):
        yield from _not_finite(_plain(value), path)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if hasattr(value, "tolist"):  # an array or a scalar of NumPy
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON: {value!r}")


def fields_of(request: BaseModel | Fields | None, more: Fields) -> dict[str, Any]:
    """Return the fields of a message or dict, with those in `more` added. Fields in `more` that are
    None are left out."""
    if isinstance(request, BaseModel):
        request = request.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {**(request or {}), **{name: value for name, value in more.items() if value is not None}}


def query_of(filters: Fields) -> dict[str, Any]:
    """Return the filters of a list as query parameters. Times become Unix seconds; a datetime
    without a zone is local."""
    query: dict[str, Any] = {}
    for name, value in filters.items():
        if isinstance(value, Mapping):
            query |= {f"{name}[{key}]": entry for key, entry in value.items()}
        else:
            query[name] = int(value.timestamp()) if isinstance(value, datetime) else value
    return query


def new_key() -> str:
    """Return a new random Idempotency-Key."""
    return f'"{uuid.uuid4()}"'


def read(message: type[M], answer: Answer) -> M:
    """Decode the response as a message of this type."""
    return message.model_validate_json(answer.body)


def job_of(value: Fields) -> JobMessage:
    """Return the job with its result as a message of the metric's type, or its summary. If this
    version does not know the metric, return a plain job."""
    if "result" not in value and "decision" in value:
        return models.JobSummary.model_validate(value)
    metric, result = str(value.get("metric")), value.get("result")
    kind = models.BatchReport if metric.endswith("-report") else result_types().get(metric)
    if kind is None:
        return JobMessage.model_validate(value)
    job: JobMessage = models.Job.model_validate({**value, "result": None})
    job.result = None if result is None else kind.model_validate(result)
    return job


@lru_cache(maxsize=1)
def result_types() -> dict[str, type[BaseModel]]:
    """Return the result type of each metric and service."""
    return {name: getattr(models, f"{name.capitalize()}Result") for name in (*METRICS, *OTHERS)}


class VersionNotice:
    """Warns once if the service has another major version than this client."""

    def __init__(self) -> None:
        self._is_told = False

    def look(self, answer: Answer) -> None:
        theirs = answer.headers.get("x-touchstone-version", "")
        if self._is_told or not theirs or theirs.split(".")[0] == CLIENT_VERSION.split(".")[0]:
            return
        self._is_told = True
        warnings.warn(
            f"the service has version {theirs} and this client {CLIENT_VERSION}, and their "
            "major versions differ; install the client of the service's major version",
            stacklevel=4,
        )
