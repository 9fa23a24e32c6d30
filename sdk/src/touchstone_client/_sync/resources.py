# Made by sdk/generate.py from _async/resources.py; do not edit.
"""The operations of the API, one class per kind of resource."""

from __future__ import annotations

import json
from collections.abc import Iterator, Callable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    cast,
    overload,
)
from urllib.parse import urlencode

from pydantic import BaseModel

from touchstone_client._sync.api import Api
from touchstone_client._sync.handles import Batch, Job
from touchstone_client._http import Request
from touchstone_client._lines import Source, batch_file
from touchstone_client._messages import models
from touchstone_client._wire import (
    DETAILS,
    OTHERS,
    Fields,
    fields_of,
    job_of,
    new_key,
    query_of,
    read,
)
from touchstone_client.data.addresses import Place, created, name_of, opened
from touchstone_client.data.mapping import Columns
from touchstone_client.data.readers import AS_NAMED, Reading
from touchstone_client.errors import NotFound

MOST_A_PAGE = 100
UPLOAD_SECONDS = 600.0

JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]
VerdictWord = Literal["holds_up", "problem_found", "not_tested"]
Time: TypeAlias = datetime | int | None  # of a filter; a number is Unix seconds

P = TypeVar("P", bound=Place)
T = TypeVar("T")

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from touchstone_client import _requests


class Pages(Generic[T]):
    """A list of objects, newest first. Iteration fetches them page by page."""

    def __init__(self, api: Api, path: str, entry: Callable[[Any], T], params: Fields) -> None:
        self._api = api
        self._path = path
        self._entry = entry
        self._params = params

    def __iter__(self) -> Iterator[T]:
        after: str | None = None
        while True:
            answer = self._api.get(self._path, limit=MOST_A_PAGE, after=after, **self._params)
            page = json.loads(answer.body)
            for entry in page["data"]:
                yield self._entry(entry)
            after = page.get("last_id")
            if not page.get("has_more") or after is None:
                return

    def __repr__(self) -> str:
        return f"<entries of {self._path}: iterate to fetch them page by page>"


class Resource:
    """The base class for the operations on one kind of resource."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def _pages(self, path: str, entry: Callable[[Any], T], **params: Any) -> Pages[T]:
        return Pages(self._api, path, entry, query_of(params))

    def _once(self, method: str, path: str, body: Any) -> Fields:
        """Send a request once. It is not repeated if the response is lost."""
        content = None if body is None else json.dumps(body).encode()
        answer = self._api.ask(Request(method, path, content), again=False)
        return cast(Fields, json.loads(answer.body))


class Jobs(Resource):
    """The operations of `/v1/jobs`."""

    # fmt: off
    @overload
    def create(self, metric: Literal["explanations"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.ExplanationsRequest]) -> Job[models.ExplanationsResult]: ...  # noqa: E501
    @overload
    def create(self, metric: Literal["inference"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.InferenceRequest]) -> Job[models.InferenceResult]: ...  # noqa: E501
    @overload
    def create(self, metric: Literal["similarity"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.SimilarityRequest]) -> Job[models.SimilarityResult]: ...  # noqa: E501
    @overload
    def create(self, metric: Literal["hatexscore"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.HatexscoreRequest]) -> Job[models.HatexscoreResult]: ...  # noqa: E501
    @overload
    def create(self, metric: Literal["ice"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.IceRequest]) -> Job[models.IceResult]: ...  # noqa: E501
    @overload
    def create(self, metric: Literal["haf"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.HafRequest]) -> Job[models.HafResult]: ...  # noqa: E501
    @overload
    def create(self, metric: Literal["ftc"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.FtcRequest]) -> Job[models.FtcResult]: ...  # noqa: E501
    @overload
    def create(self, metric: Literal["hlv"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.HlvRequest]) -> Job[models.HlvResult]: ...  # noqa: E501
    @overload
    def create(self, metric: Literal["cot2el"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.Cot2elRequest]) -> Job[models.Cot2elResult]: ...  # noqa: E501
    @overload
    def create(self, metric: Literal["sor"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.SorRequest]) -> Job[models.SorResult]: ...  # noqa: E501
    @overload
    def create(self, metric: Literal["consistency"], request: BaseModel | Fields | None = None, /, **fields: Unpack[_requests.ConsistencyRequest]) -> Job[models.ConsistencyResult]: ...  # noqa: E501
    @overload
    def create(self, metric: str, request: BaseModel | Fields | None = None, /) -> Job[Any]: ...  # noqa: E501
    # fmt: on
    def create(
        self, metric: str, request: BaseModel | Fields | None = None, /, **fields: Any
    ) -> Job[Any]:
        """Create a job without waiting for its result. `metric` may also be `explanations`,
        `inference` or `similarity`. Raises BadRequest."""
        return created_job(self._api, metric, fields_of(request, fields), 0.0)

    def get(self, job_id: str) -> Job[Any]:
        """Return the job with this id. Raises NotFound."""
        answer = self._api.get(f"/v1/jobs/{job_id}", **DETAILS)
        return Job(self._api, job_of(json.loads(answer.body)))

    def get_many(self, ids: Sequence[str], *, wait: float = 0.0) -> Sequence[Job[Any]]:
        """Return jobs in the order of `ids`. `wait` is how many seconds to wait for all of them to
        end, at most 30. Raises NotFound."""
        by_id: dict[str, Fields] = {}
        for start in range(0, len(ids), MOST_A_PAGE):
            some = list(dict.fromkeys(ids[start : start + MOST_A_PAGE]))
            by_id |= {str(job["id"]): job for job in self._api.jobs(some, wait=wait)}
        return [Job(self._api, job_of(by_id[id])) for id in ids]

    def create_many(
        self, metric: str, requests: Sequence[dict[str, Any]], *, key: str = ""
    ) -> Sequence[str]:
        """Create up to 1,000 jobs, all or none, and return their ids in order. `key` is the
        `Idempotency-Key`, needed if another process may repeat the call. Raises BadRequest with a
        pointer (`/requests/17/…`) to each error."""
        body = {"metric": metric, "requests": [dict(request) for request in requests]}
        answer = self._api.post("/v1/scores:batchCreate", body, key=key)
        return [str(job["id"]) for job in json.loads(answer.body)["data"]]

    def list(
        self,
        *,
        status: JobStatus | None = None,
        metric: str | None = None,
        batch: str | None = None,
        verdict: VerdictWord | None = None,
        created_after: Time = None,
        created_before: Time = None,
        metadata: Mapping[str, str] | None = None,
        expand: Literal["result", "details"] | None = None,
    ) -> Pages[Job[Any]]:
        """Return summaries of jobs, newest first: jobs without `result`. `expand="result"` fetches
        whole jobs. `created_after` is inclusive, and `created_before` is not."""

        def entry(value: Any) -> Job[Any]:
            return Job(self._api, job_of(value))

        return self._pages(
            "/v1/jobs",
            entry,
            status=status,
            metric=metric,
            batch=batch,
            verdict=verdict,
            created_after=created_after,
            created_before=created_before,
            metadata=metadata,
            expand=expand,
        )

    def cancel(self, job_id: str) -> Job[Any]:
        """Cancel a job. Raises Conflict if it has ended."""
        answer = self._api.post(f"/v1/jobs/{job_id}/cancel", {})
        return Job(self._api, job_of(json.loads(answer.body)))

    def delete(self, job_id: str) -> models.Deleted:
        """Delete the job with its text and result. Raises NotFound, and Conflict if the job is
        still open."""
        answer = self._api.ask(Request("DELETE", f"/v1/jobs/{job_id}"))
        return read(models.Deleted, answer)

    def delete_where(self, metadata: Mapping[str, str]) -> models.DeletedJobs:
        """Delete all ended jobs and batch lines with this metadata, including their texts."""
        params = query_of({"metadata": metadata})
        return read(
            models.DeletedJobs,
            self._api.ask(Request("DELETE", "/v1/jobs", params=params)),
        )


class Files(Resource):
    """The operations of `/v1/files`."""

    def upload(
        self, file: str | PathLike[str] | BinaryIO, name: str = ""
    ) -> models.StoredFile:
        """Upload a file with the lines of a batch."""
        if isinstance(file, str | PathLike):
            with opened(file) as stream:
                return self.upload(stream, name or name_of(file))
        request = Request(
            "POST",
            "/v1/files",
            headers={"Idempotency-Key": new_key()},
            file=(name or "lines.jsonl", file),
            seconds=UPLOAD_SECONDS,
        )
        return read(models.StoredFile, self._api.ask(request, patience=self._api.patience))

    def get(self, file_id: str) -> models.StoredFile:
        """Return the name, size and state of a file. Raises NotFound."""
        return read(models.StoredFile, self._api.get(f"/v1/files/{file_id}"))

    def list(
        self,
        *,
        purpose: Literal["batch", "batch_output"] | None = None,
        created_after: Time = None,
        created_before: Time = None,
    ) -> Pages[models.StoredFile]:
        """Return files, newest first. `created_after` is inclusive, and `created_before` is not."""
        return self._pages(
            "/v1/files",
            models.StoredFile.model_validate,
            purpose=purpose,
            created_after=created_after,
            created_before=created_before,
        )

    def content(self, file_id: str) -> Iterator[bytes]:
        """Yield the file's content in pieces."""
        with self._api.open(Request("GET", f"/v1/files/{file_id}/content")) as stream:
            for piece in stream.pieces():
                yield piece

    def download(self, file_id: str, target: P) -> P:
        """Save the file's content to `target` and return `target`. The file `target` is created
        only when the download is complete."""
        with created(target) as stream:
            for piece in self.content(file_id):
                stream.write(piece)
        return target

    def delete(self, file_id: str) -> models.Deleted:
        """Delete a file. Raises Conflict if an open batch reads it."""
        answer = self._api.ask(Request("DELETE", f"/v1/files/{file_id}"))
        return read(models.Deleted, answer)


class Batches(Resource):
    """The operations of `/v1/batches`."""

    def create(
        self,
        lines: Source | models.StoredFile,
        metric: str,
        *,
        columns: Columns | None = None,
        reading: Reading = AS_NAMED,
        metadata: Mapping[str, str] | None = None,
    ) -> Batch:
        """Create a batch.

        `lines` is a file or folder, an iterable of requests, or a file from `files.upload`. Formats
        are JSON Lines, CSV, TSV, Parquet, Arrow and those of `datasets`. Files may also be fsspec
        URLs. The custom id of a request is its `custom_id`, or `id`, or its number from 1.
        `columns` is as in `score_many`. Raises ValueError with the number of an unreadable line.
        """
        endpoint = endpoint_of(metric)
        if isinstance(lines, models.StoredFile):
            stored = lines
        else:
            with batch_file(lines, endpoint, columns, reading) as (name, content):
                stored = Files(self._api).upload(content, name)
        body = {
            "input_file_id": stored.id,
            "endpoint": endpoint,
            "metadata": dict(metadata or {}),
        }
        answer = self._api.post("/v1/batches", body, patience=self._api.patience)
        return Batch(self._api, json.loads(answer.body))

    def get(self, batch_id: str) -> Batch:
        """Return the batch with this id. Raises NotFound."""
        answer = self._api.get(f"/v1/batches/{batch_id}")
        return Batch(self._api, json.loads(answer.body))

    def list(
        self,
        *,
        created_after: Time = None,
        created_before: Time = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Pages[Batch]:
        """Return batches, newest first. `created_after` is inclusive, and `created_before` is
        not."""
        return self._pages(
            "/v1/batches",
            lambda value: Batch(self._api, value),
            created_after=created_after,
            created_before=created_before,
            metadata=metadata,
        )

    def cancel(self, batch_id: str) -> Batch:
        """Cancel a batch. Raises Conflict if it has ended."""
        answer = self._api.post(f"/v1/batches/{batch_id}/cancel", {})
        return Batch(self._api, json.loads(answer.body))


class Models(Resource):
    """The operations of `/v1/models`: the models that a request may use."""

    def list(self) -> Sequence[models.Model]:
        """Return the models in the order of `models.toml`."""
        pages = self._pages("/v1/models", models.Model.model_validate)
        return [model for model in pages]

    def get(self, name: str) -> models.Model:
        """Return the model with this name. Raises NotFound."""
        for model in self.list():
            if model.id == name:
                return model
        raise not_found("model", name)


class Reports(Resource):
    """The operations of `/v1/reports`: reports on many results."""

    def make(
        self,
        metric: str,
        /,
        *,
        timeout: float | None = None,
        **fields: Unpack[_requests.BatchReportRequest],
    ) -> Any:
        """Return a metric's report (`models.BatchReport`) on `jobs` or a `batch`, which are given
        by ids. Raises JobFailed, JobCancelled, TimedOut."""
        sent = {
            name: value for name, value in {"metric": metric, **fields}.items() if value is not None
        }
        answer = self._api.post("/v1/reports", sent, wait=30)
        return Job[Any](self._api, job_of(json.loads(answer.body))).wait(timeout)


class Webhooks(Resource):
    """The operations of `/v1/webhook-endpoints`. Tests, changes and replays are not tried again if
    the response is lost."""

    def list(self) -> Pages[models.Endpoint]:
        """Return endpoints, newest first."""
        return self._pages("/v1/webhook-endpoints", models.Endpoint.model_validate)

    def get(self, endpoint_id: str) -> models.Endpoint:
        """Return the endpoint with this id. Raises NotFound."""
        for endpoint in self.list():
            if endpoint.id == endpoint_id:
                return endpoint
        raise not_found("webhook endpoint", endpoint_id)

    def create(
        self, url: str, /, **fields: Unpack[_requests.EndpointRequest]
    ) -> models.EndpointWithSecret:
        """Create an endpoint for webhooks. Without `events` it receives all events. With a `format`
        it receives scores in the format of another tool. The secret is only returned here."""
        answer = self._once("POST", "/v1/webhook-endpoints", {**fields, "url": url})
        return models.EndpointWithSecret.model_validate(answer)

    def change(
        self, endpoint_id: str, /, **changes: Unpack[_requests.EndpointChange]
    ) -> models.Endpoint:
        """Change the given fields of an endpoint."""
        answer = self._once("PATCH", _path_of(endpoint_id), changes)
        return models.Endpoint.model_validate(answer)

    def delete(self, endpoint_id: str) -> None:
        """Delete the endpoint. Raises NotFound."""
        self._api.ask(Request("DELETE", _path_of(endpoint_id)))

    def rotate_secret(
        self, endpoint_id: str, *, overlap_seconds: int = 86_400
    ) -> models.EndpointWithSecret:
        """Create a new secret for signatures. The previous secret stays valid for
        `overlap_seconds`."""
        body = {"overlap_seconds": overlap_seconds}
        answer = self._api.post(f"{_path_of(endpoint_id)}/rotate-secret", body)
        return read(models.EndpointWithSecret, answer)

    def test(self, endpoint_id: str) -> models.WebhookTest:
        """Send the event `endpoint.test` now and return the outcome."""
        answer = self._once("POST", f"{_path_of(endpoint_id)}/test", None)
        return models.WebhookTest.model_validate(answer)

    def deliveries(
        self,
        endpoint_id: str,
        *,
        status: Literal["pending", "succeeded", "failed"] | None = None,
    ) -> Pages[models.Delivery]:
        """Return the endpoint's deliveries, newest first."""
        path = f"{_path_of(endpoint_id)}/deliveries"
        return self._pages(path, models.Delivery.model_validate, status=status)

    def replay(self, endpoint_id: str, delivery_id: str | None = None) -> int:
        """Send a delivery again, or all failed ones if `delivery_id` is None. Return their
        number."""
        body = fields_of(None, {"delivery": delivery_id})
        answer = self._once("POST", f"{_path_of(endpoint_id)}/replay", body)
        return cast(int, answer["replayed"])


def not_found(kind: str, name: str) -> NotFound:
    """Return the error that the service returns for an unknown id."""
    return NotFound(404, {"title": f"No such {kind}", "detail": f"there is no {kind} {name!r}"})


def created_job(api: Api, metric: str, sent: Fields, wait: float) -> Job[Any]:
    """Create a job. `wait` is how many seconds the service may wait for the job to end."""
    path = f"{endpoint_of(metric)}?{urlencode(DETAILS)}"
    answer = api.post(path, sent, wait=wait)
    return Job(api, job_of(json.loads(answer.body)), sent)


def _path_of(endpoint_id: str) -> str:
    return f"/v1/webhook-endpoints/{endpoint_id}"


def endpoint_of(metric: str) -> str:
    """Return the request path of a metric or other service."""
    return f"/v1/{metric}" if metric in OTHERS else f"/v1/scores/{metric}"
