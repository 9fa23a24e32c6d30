"""The operations of the API, one object a resource; lists page by themselves."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from os import PathLike
from typing import Any, BinaryIO, TypeVar, cast

from touchstone_client import models
from touchstone_client._async.api import AsyncApi
from touchstone_client._async.handles import AsyncBatch, AsyncJob
from touchstone_client._http import Request
from touchstone_client._lines import Source, batch_file
from touchstone_client._wire import Fields, fields_of, job_of, new_key, read
from touchstone_client.data.addresses import Place, created, name_of, opened
from touchstone_client.data.mapping import Columns
from touchstone_client.data.readers import AS_NAMED, Reading
from touchstone_client.errors import NotFound

MOST_A_PAGE = 100
UPLOAD_SECONDS = 600.0
OTHERS = ("explanations", "inference", "similarity")  # services that are no metrics

P = TypeVar("P", bound=Place)


class AsyncResource:
    """Base: the service that is asked."""

    def __init__(self, api: AsyncApi) -> None:
        self._api = api

    async def _pages(self, path: str, **params: Any) -> AsyncIterator[dict[str, Any]]:
        """Every entry of a list, newest first, asked for page by page."""
        after: str | None = None
        while True:
            answer = await self._api.get(path, limit=MOST_A_PAGE, after=after, **params)
            page = json.loads(answer.body)
            for one in page["data"]:
                yield one
            after = page.get("last_id")
            if not page.get("has_more") or after is None:
                return

    async def _once(self, method: str, path: str, body: Any) -> Fields:
        """Not repeated where its answer was lost."""
        content = None if body is None else json.dumps(body).encode()
        answer = await self._api.ask(Request(method, path, content), again=False)
        return cast(Fields, json.loads(answer.body))


class AsyncJobs(AsyncResource):
    """`/v1/jobs`."""

    async def get(self, job_id: str) -> AsyncJob[Any]:
        """Raises NotFound."""
        answer = await self._api.get(f"/v1/jobs/{job_id}")
        return AsyncJob(self._api, job_of(json.loads(answer.body)))

    async def get_many(self, ids: Sequence[str], *, wait: float = 0.0) -> Sequence[AsyncJob[Any]]:
        """Jobs in this order. wait: seconds until all have ended, 30 at most. Raises NotFound."""
        found: dict[str, Fields] = {}
        for start in range(0, len(ids), MOST_A_PAGE):
            some = list(dict.fromkeys(ids[start : start + MOST_A_PAGE]))
            found |= {str(one["id"]): one for one in await self._api.jobs(some, wait=wait)}
        return [AsyncJob(self._api, job_of(found[one])) for one in ids]

    async def create_many(
        self, metric: str, requests: Sequence[dict[str, Any]], *, key: str = ""
    ) -> Sequence[str]:
        """The ids of up to 1,000 new jobs, in this order: all are made, or none.

        key: the `Idempotency-Key`, of your own where another process may send the same again.
        Raises BadRequest with a pointer (`/requests/17/…`) to everything that is wrong.
        """
        body = {"metric": metric, "requests": [dict(one) for one in requests]}
        answer = await self._api.post("/v1/scores:batchCreate", body, key=key)
        return [str(job["id"]) for job in json.loads(answer.body)["data"]]

    async def list(
        self, *, status: str | None = None, metric: str | None = None, batch: str | None = None
    ) -> AsyncIterator[AsyncJob[Any]]:
        """Newest first."""
        chosen = {"status": status, "metric": metric, "batch": batch, "expand": "result"}
        async for one in self._pages("/v1/jobs", **chosen):
            yield AsyncJob(self._api, job_of(one))

    async def cancel(self, job_id: str) -> AsyncJob[Any]:
        """Raises Conflict where it has ended."""
        answer = await self._api.post(f"/v1/jobs/{job_id}/cancel", {})
        return AsyncJob(self._api, job_of(json.loads(answer.body)))

    async def delete(self, job_id: str) -> models.DeletedJob:
        """Deletes the job with its text and result. Raises NotFound, Conflict while it is open."""
        answer = await self._api.ask(Request("DELETE", f"/v1/jobs/{job_id}"))
        return read(models.DeletedJob, answer)

    async def delete_where(self, metadata: Mapping[str, str]) -> models.DeletedJobs:
        """Deletes all ended jobs and lines of batches with this metadata, with their texts."""
        params = {f"metadata[{key}]": value for key, value in metadata.items()}
        return read(
            models.DeletedJobs,
            await self._api.ask(Request("DELETE", "/v1/jobs", params=params)),
        )


class AsyncFiles(AsyncResource):
    """`/v1/files`."""

    async def upload(
        self, file: str | PathLike[str] | BinaryIO, name: str = ""
    ) -> models.StoredFile:
        """A file of batch lines, read as it is sent."""
        if isinstance(file, str | PathLike):
            with opened(file) as stream:
                return await self.upload(stream, name or name_of(file))
        asked = Request(
            "POST",
            "/v1/files",
            headers={"Idempotency-Key": new_key()},
            file=(name or "lines.jsonl", file),
            seconds=UPLOAD_SECONDS,
        )
        return read(models.StoredFile, await self._api.ask(asked, patience=self._api.patience))

    async def get(self, file_id: str) -> models.StoredFile:
        """Raises NotFound."""
        return read(models.StoredFile, await self._api.get(f"/v1/files/{file_id}"))

    async def list(self, *, purpose: str | None = None) -> AsyncIterator[models.StoredFile]:
        """Newest first. purpose: batch or batch_output."""
        async for one in self._pages("/v1/files", purpose=purpose):
            yield models.StoredFile.model_validate(one)

    async def content(self, file_id: str) -> AsyncIterator[bytes]:
        """A piece at a time."""
        async with self._api.open(Request("GET", f"/v1/files/{file_id}/content")) as stream:
            async for piece in stream.pieces():
                yield piece

    async def download(self, file_id: str, target: P) -> P:
        """Into a file, which is there once it is whole; the target."""
        with created(target) as stream:
            async for piece in self.content(file_id):
                stream.write(piece)
        return target

    async def delete(self, file_id: str) -> models.DeletedFile:
        """Raises Conflict where an open batch reads it."""
        answer = await self._api.ask(Request("DELETE", f"/v1/files/{file_id}"))
        return read(models.DeletedFile, answer)


class AsyncBatches(AsyncResource):
    """`/v1/batches`."""

    async def submit(
        self,
        lines: Source,
        metric: str,
        *,
        columns: Columns | None = None,
        reading: Reading = AS_NAMED,
        metadata: Mapping[str, str] | None = None,
    ) -> AsyncBatch:
        """A new batch. lines: a file or folder (JSON Lines, CSV, TSV, Parquet, Arrow, what
        `datasets` saves), also by an address of fsspec, or an iterable of requests; plain requests
        become lines; their `custom_id`, else `id`, else number from 1 is the line's. columns: as in
        `score_many`. Raises ValueError for what cannot be read, with its line."""
        endpoint = endpoint_of(metric)
        with batch_file(lines, endpoint, columns, reading) as (name, content):
            stored = await AsyncFiles(self._api).upload(content, name)
        return await self.create(stored.id, metric, metadata=metadata)

    async def create(
        self, file_id: str, metric: str, *, metadata: Mapping[str, str] | None = None
    ) -> AsyncBatch:
        """Of a file that was uploaded."""
        body = {
            "input_file_id": file_id,
            "endpoint": endpoint_of(metric),
            "metadata": dict(metadata or {}),
        }
        answer = await self._api.post("/v1/batches", body, patience=self._api.patience)
        return AsyncBatch.of(self._api, json.loads(answer.body))

    async def get(self, batch_id: str) -> AsyncBatch:
        """Raises NotFound."""
        answer = await self._api.get(f"/v1/batches/{batch_id}")
        return AsyncBatch.of(self._api, json.loads(answer.body))

    async def list(self) -> AsyncIterator[AsyncBatch]:
        """Newest first."""
        async for one in self._pages("/v1/batches"):
            yield AsyncBatch.of(self._api, one)

    async def cancel(self, batch_id: str) -> AsyncBatch:
        """Raises Conflict where it has ended."""
        answer = await self._api.post(f"/v1/batches/{batch_id}/cancel", {})
        return AsyncBatch.of(self._api, json.loads(answer.body))


class AsyncModels(AsyncResource):
    """`/v1/models`: what a request may name."""

    async def list(self) -> AsyncIterator[models.Model]:
        """In the order of `models.toml`."""
        answer = await self._api.get("/v1/models")
        for one in read(models.ModelList, answer).data:
            yield one

    async def get(self, name: str) -> models.Model:
        """Raises NotFound."""
        async for one in self.list():
            if one.id == name:
                return one
        raise not_found("model", name)


class AsyncReports(AsyncResource):
    """`/v1/reports`: what many results say together."""

    async def make(
        self,
        metric: str,
        *,
        jobs: Sequence[str] | None = None,
        batch: str | None = None,
        timeout: float | None = None,
        **settings: Any,
    ) -> Any:
        """The metric's report, as in `HatexscoreBatchReport`. jobs, batch: one of the two, by ids;
        settings: as `resamples`, `against`, of `BatchReportRequest`. Raises as `Job.wait`."""
        body = {"metric": metric, "jobs": jobs, "batch": batch, **settings}
        sent = {name: one for name, one in body.items() if one is not None}
        answer = await self._api.post("/v1/reports", sent, wait=30)
        return await AsyncJob[Any](self._api, job_of(json.loads(answer.body))).wait(timeout)


class AsyncWebhooks(AsyncResource):
    """`/v1/webhook-endpoints`. Tests, changes and replays are not repeated after a lost answer."""

    async def list(self) -> AsyncIterator[models.Endpoint]:
        """Newest first."""
        async for one in self._pages("/v1/webhook-endpoints"):
            yield models.Endpoint.model_validate(one)

    async def get(self, endpoint_id: str) -> models.Endpoint:
        """Raises NotFound."""
        async for one in self.list():
            if one.id == endpoint_id:
                return one
        raise not_found("webhook endpoint", endpoint_id)

    async def create(
        self, url: str, *, events: Sequence[str] = (), description: str = "", **push: Any
    ) -> models.EndpointWithSecret:
        """events: none listens to all. push: format, authorization, sample, metrics, parts, where
        scores are pushed to another tool. The secret is shown this once."""
        body = {"url": url, "events": list(events), "description": description, **push}
        answer = await self._api.post("/v1/webhook-endpoints", body)
        return read(models.EndpointWithSecret, answer)

    async def change(self, endpoint_id: str, **changes: Any) -> models.Endpoint:
        """changes: url, events, description, enabled, authorization, sample, metrics, parts."""
        answer = await self._once("PATCH", _place(endpoint_id), changes)
        return models.Endpoint.model_validate(answer)

    async def delete(self, endpoint_id: str) -> None:
        """Raises NotFound."""
        await self._api.ask(Request("DELETE", _place(endpoint_id)))

    async def rotate_secret(
        self, endpoint_id: str, *, overlap_seconds: int = 86_400
    ) -> models.EndpointWithSecret:
        """A new secret; the previous one signs as well for so long."""
        body = {"overlap_seconds": overlap_seconds}
        answer = await self._api.post(f"{_place(endpoint_id)}/rotate-secret", body)
        return read(models.EndpointWithSecret, answer)

    async def test(self, endpoint_id: str) -> models.WebhookTest:
        """Sends `endpoint.test` at once."""
        answer = await self._once("POST", f"{_place(endpoint_id)}/test", None)
        return models.WebhookTest.model_validate(answer)

    async def deliveries(
        self, endpoint_id: str, *, status: str | None = None
    ) -> AsyncIterator[models.Delivery]:
        """Newest first. status: pending, succeeded or failed."""
        async for one in self._pages(f"{_place(endpoint_id)}/deliveries", status=status):
            yield models.Delivery.model_validate(one)

    async def replay(self, endpoint_id: str, delivery_id: str | None = None) -> int:
        """Sends a delivery once more, or all failed ones; how many they are."""
        body = fields_of(None, {"delivery": delivery_id})
        found = await self._once("POST", f"{_place(endpoint_id)}/replay", body)
        return cast(int, found["replayed"])


def not_found(what: str, name: str) -> NotFound:
    """As the service says it."""
    return NotFound(404, {"title": f"No such {what}", "detail": f"there is no {what} {name!r}"})


def _place(endpoint_id: str) -> str:
    return f"/v1/webhook-endpoints/{endpoint_id}"


def endpoint_of(metric: str) -> str:
    """Where requests of this metric, or of a service that is none, are posted."""
    return f"/v1/{metric}" if metric in OTHERS else f"/v1/scores/{metric}"
