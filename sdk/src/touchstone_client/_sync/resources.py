# Made by sdk/generate.py from _async/resources.py; do not edit.
"""The operations of the API, one object a resource; lists page by themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar, cast

from pydantic import BaseModel

from touchstone_client._sync.api import Api
from touchstone_client._sync.handles import Batch, Job
from touchstone_client._http import Request
from touchstone_client._lines import Source, batch_file
from touchstone_client._messages import models
from touchstone_client._wire import Fields, fields_of, job_of, new_key, read
from touchstone_client.data.addresses import Place, created, name_of, opened
from touchstone_client.data.mapping import Columns
from touchstone_client.data.readers import AS_NAMED, Reading

MOST_A_PAGE = 100
UPLOAD_SECONDS = 600.0
OTHERS = ("explanations", "inference", "similarity")  # services that are no metrics

P = TypeVar("P", bound=Place)
T = TypeVar("T")

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from touchstone_client import _requests


class Pages(Generic[T]):
    """The entries of a list, newest first. Iteration fetches them page by page."""

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
            for one in page["data"]:
                yield self._entry(one)
            after = page.get("last_id")
            if not page.get("has_more") or after is None:
                return

    def __repr__(self) -> str:
        return f"<entries of {self._path}: iterate to fetch them page by page>"


class Resource:
    """Base: the service that is asked."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def _pages(self, path: str, entry: Callable[[Any], T], **params: Any) -> Pages[T]:
        return Pages(self._api, path, entry, params)

    def _once(self, method: str, path: str, body: Any) -> Fields:
        """Not repeated where its answer was lost."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"Idempotency-Key": new_key()} if method == "POST" else {}
        asked = Request(method, path, content, headers=headers)
        answer = self._api.ask(asked, again=False)
        return cast(Fields, json.loads(answer.body))


class Jobs(Resource):
    """`/v1/jobs`."""

    def create(
        self, metric: str, request: BaseModel | Fields | None = None, /, **fields: Any
    ) -> Job[Any]:
        """Create a job without waiting for it. metric: also explanations, inference or
        similarity. Raises BadRequest."""
        return created_job(self._api, metric, fields_of(request, fields), 0.0)

    def get(self, job_id: str) -> Job[Any]:
        """Raises NotFound."""
        answer = self._api.get(f"/v1/jobs/{job_id}")
        return Job(self._api, job_of(json.loads(answer.body)))

    def get_many(self, ids: Sequence[str], *, wait: float = 0.0) -> Sequence[Job[Any]]:
        """Up to 1,000 jobs, in this order. wait: seconds until all have ended, 30 at most."""
        answer = self._api.post("/v1/jobs:batchGet", {"ids": list(ids)}, wait=wait)
        found = json.loads(answer.body)["data"]
        return [Job(self._api, job_of(one)) for one in found]

    def create_many(
        self, metric: str, requests: Sequence[dict[str, Any]], *, key: str = ""
    ) -> Sequence[str]:
        """The ids of up to 1,000 new jobs, in this order: all are made, or none.

        key: the `Idempotency-Key`, of your own where another process may send the same again.
        Raises BadRequest with a pointer (`/requests/17/…`) to everything that is wrong.
        """
        body = {"requests": [dict(one) for one in requests]}
        answer = self._api.post(f"/v1/scores/{metric}:batchCreate", body, key=key)
        return [str(job["id"]) for job in json.loads(answer.body)["data"]]

    def list(
        self, *, status: str | None = None, metric: str | None = None, batch: str | None = None
    ) -> Pages[Job[Any]]:
        """Return jobs, newest first."""

        def entry(value: Any) -> Job[Any]:
            return Job(self._api, job_of(value))

        return self._pages("/v1/jobs", entry, status=status, metric=metric, batch=batch)

    def cancel(self, job_id: str) -> Job[Any]:
        """Raises Conflict where it has ended."""
        answer = self._api.post(f"/v1/jobs/{job_id}/cancel", {})
        return Job(self._api, job_of(json.loads(answer.body)))


class Files(Resource):
    """`/v1/files`."""

    def upload(
        self, file: str | PathLike[str] | BinaryIO, name: str = ""
    ) -> models.StoredFile:
        """A file of batch lines, read as it is sent."""
        if isinstance(file, str | PathLike):
            with opened(file) as stream:
                return self.upload(stream, name or name_of(file))
        asked = Request(
            "POST", "/v1/files", file=(name or "lines.jsonl", file), seconds=UPLOAD_SECONDS
        )
        return read(models.StoredFile, self._api.ask(asked, patience=self._api.patience))

    def get(self, file_id: str) -> models.StoredFile:
        """Raises NotFound."""
        return read(models.StoredFile, self._api.get(f"/v1/files/{file_id}"))

    def list(self, *, purpose: str | None = None) -> Pages[models.StoredFile]:
        """Return files, newest first. purpose: batch or batch_output."""
        return self._pages("/v1/files", models.StoredFile.model_validate, purpose=purpose)

    def content(self, file_id: str) -> Iterator[bytes]:
        """A piece at a time."""
        with self._api.open(Request("GET", f"/v1/files/{file_id}/content")) as stream:
            for piece in stream.pieces():
                yield piece

    def download(self, file_id: str, target: P) -> P:
        """Into a file, which is there once it is whole; the target."""
        with created(target) as stream:
            for piece in self.content(file_id):
                stream.write(piece)
        return target

    def delete(self, file_id: str) -> models.DeletedFile:
        """Raises Conflict where an open batch reads it."""
        answer = self._api.ask(Request("DELETE", f"/v1/files/{file_id}"))
        return read(models.DeletedFile, answer)


class Batches(Resource):
    """`/v1/batches`."""

    def create(
        self,
        lines: Source | models.StoredFile,
        metric: str,
        *,
        columns: Columns | None = None,
        reading: Reading = AS_NAMED,
        metadata: Mapping[str, str] | None = None,
    ) -> Batch:
        """Create a batch. lines: a file or folder (JSON Lines, CSV, TSV, Parquet, Arrow, what
        `datasets` saves), also by an address of fsspec; an iterable of requests; or a file that
        `files.upload` returned. Plain requests become lines; their `custom_id`, else `id`, else
        number from 1 is the line's. columns: as in `score_many`. Raises ValueError for what cannot
        be read, with its line."""
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
        """Raises NotFound."""
        answer = self._api.get(f"/v1/batches/{batch_id}")
        return Batch(self._api, json.loads(answer.body))

    def list(self) -> Pages[Batch]:
        """Return batches, newest first."""
        return self._pages("/v1/batches", lambda value: Batch(self._api, value))

    def cancel(self, batch_id: str) -> Batch:
        """Raises Conflict where it has ended."""
        answer = self._api.post(f"/v1/batches/{batch_id}/cancel", {})
        return Batch(self._api, json.loads(answer.body))


class Models(Resource):
    """`/v1/models`: what a request may name."""

    def list(self) -> Sequence[models.Model]:
        """Return the models in the order of `models.toml`."""
        return read(models.ModelList, self._api.get("/v1/models")).data

    def get(self, name: str) -> models.Model:
        """Raises NotFound."""
        return read(models.Model, self._api.get(f"/v1/models/{name}"))


class Reports(Resource):
    """`/v1/reports`: what many results say together."""

    def make(
        self,
        metric: str,
        /,
        *,
        timeout: float | None = None,
        **fields: Unpack[_requests.BatchReportRequest],
    ) -> Any:
        """Return the metric's report, as in `models.HatexscoreBatchReport`, on `jobs` or on a
        `batch`, by ids. Raises as `Job.wait`."""
        sent = {name: one for name, one in fields.items() if one is not None}
        answer = self._api.post(f"/v1/reports/{metric}", sent, wait=30)
        return Job[Any](self._api, job_of(json.loads(answer.body))).wait(timeout)


class Webhooks(Resource):
    """`/v1/webhook-endpoints`. What makes or sends something is not repeated where its answer was
    lost, since nobody could tell whether it was done."""

    def list(self) -> Sequence[models.Endpoint]:
        """Return all endpoints."""
        return read(models.EndpointList, self._api.get("/v1/webhook-endpoints")).data

    def get(self, endpoint_id: str) -> models.Endpoint:
        """Raises NotFound."""
        return read(models.Endpoint, self._api.get(_place(endpoint_id)))

    def create(
        self, url: str, /, **fields: Unpack[_requests.EndpointRequest]
    ) -> models.EndpointWithSecret:
        """Create an endpoint. Without `events` it receives all of them; with a `format` scores are
        pushed to another tool. The secret is not shown again."""
        answer = self._once("POST", "/v1/webhook-endpoints", {**fields, "url": url})
        return models.EndpointWithSecret.model_validate(answer)

    def change(
        self, endpoint_id: str, /, **changes: Unpack[_requests.EndpointChange]
    ) -> models.Endpoint:
        """Change these fields of an endpoint."""
        answer = self._once("PATCH", _place(endpoint_id), changes)
        return models.Endpoint.model_validate(answer)

    def delete(self, endpoint_id: str) -> None:
        """Raises NotFound."""
        self._api.ask(Request("DELETE", _place(endpoint_id)))

    def rotate_secret(
        self, endpoint_id: str, *, overlap_seconds: int = 86_400
    ) -> models.EndpointWithSecret:
        """A new secret; the previous one signs as well for so long."""
        body = {"overlap_seconds": overlap_seconds}
        answer = self._once("POST", f"{_place(endpoint_id)}/rotate-secret", body)
        return models.EndpointWithSecret.model_validate(answer)

    def test(self, endpoint_id: str) -> models.WebhookTest:
        """Sends `endpoint.test` at once."""
        answer = self._once("POST", f"{_place(endpoint_id)}/test", None)
        return models.WebhookTest.model_validate(answer)

    def deliveries(
        self, endpoint_id: str, *, status: str | None = None
    ) -> Pages[models.Delivery]:
        """Return deliveries, newest first. status: pending, succeeded or failed."""
        path = f"{_place(endpoint_id)}/deliveries"
        return self._pages(path, models.Delivery.model_validate, status=status)

    def replay(self, endpoint_id: str, delivery_id: str) -> models.Delivery:
        """Owes it once more."""
        path = f"{_place(endpoint_id)}/deliveries/{delivery_id}/replay"
        return models.Delivery.model_validate(self._once("POST", path, None))

    def replay_failed(self, endpoint_id: str) -> int:
        """Owes all failed ones once more; how many they are."""
        found = self._once("POST", f"{_place(endpoint_id)}/replay-failed", None)
        return cast(int, found["replayed"])


def created_job(api: Api, metric: str, sent: Fields, wait: float) -> Job[Any]:
    """Send a request. wait: seconds that the service may take to answer with the end."""
    answer = api.post(endpoint_of(metric), sent, wait=wait)
    return Job(api, job_of(json.loads(answer.body)), sent)


def _place(endpoint_id: str) -> str:
    return f"/v1/webhook-endpoints/{endpoint_id}"


def endpoint_of(metric: str) -> str:
    """Where requests of this metric, or of a service that is none, are posted."""
    return f"/v1/{metric}" if metric in OTHERS else f"/v1/scores/{metric}"
