"""People's judgements of scores, and queues of results to judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlencode

from touchstone_client._async.handles import report_at
from touchstone_client._async.resources import AsyncPages, AsyncResource
from touchstone_client._http import Request
from touchstone_client._messages import models
from touchstone_client._wire import encoded, fields_of, read
from touchstone_client.data.addresses import Place, created, opened

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from touchstone_client import _requests

QUEUES = "/v1/review-queues"
KINDS = {
    "jsonl": "application/jsonl",
    "csv": "text/csv",
    "label-studio": "application/vnd.label-studio+json",
}

P = TypeVar("P", bound=Place)


class AsyncJudgements(AsyncResource):
    """The operations of `/v1/judgements`: people's judgements of scores."""

    async def give(
        self, job_id: str, verdict: str, /, **fields: Unpack[_requests.JudgementRequest]
    ) -> models.ReviewerJudgement:
        """Store a person's judgement of a score. `verdict` is agree, disagree or unsure. Raises
        NotFound, BadRequest."""
        body = {**fields, "job_id": job_id, "verdict": verdict}
        answer = await self._api.post("/v1/judgements", body)
        return read(models.ReviewerJudgement, answer)

    def list(
        self,
        *,
        job: str | None = None,
        batch: str | None = None,
        queue: str | None = None,
        reviewer: str | None = None,
        verdict: Literal["agree", "disagree", "unsure"] | None = None,
    ) -> AsyncPages[models.ReviewerJudgement]:
        """Return judgements, newest first. Replaced and withdrawn judgements are left out."""
        return self._pages(
            "/v1/judgements",
            models.ReviewerJudgement.model_validate,
            job=job,
            batch=batch,
            queue=queue,
            reviewer=reviewer,
            verdict=verdict,
        )

    async def withdraw(self, judgement_id: str) -> models.ReviewerJudgement:
        """Withdraw a judgement and delete its note. Raises NotFound."""
        answer = await self._api.post(f"/v1/judgements/{judgement_id}/withdraw", {})
        return read(models.ReviewerJudgement, answer)

    async def export(
        self,
        target: P,
        *,
        format: str = "jsonl",
        batch: str | None = None,
        queue: str | None = None,
    ) -> P:
        """Save judgements to the file `target` and return it. `format` is jsonl, csv or
        label-studio."""
        headers = {"Accept": KINDS[format]}
        filters = fields_of(None, {"batch": batch, "queue": queue})
        request = Request("GET", "/v1/judgements", params=filters, headers=headers)
        async with self._api.open(request) as stream:
            with created(target) as file:
                async for piece in stream.pieces():
                    file.write(piece)
        return target

    async def take_in(
        self, lines: str | PathLike[str] | Iterable[Mapping[str, Any]], source: str
    ) -> models.Import:
        """Import up to 5,000 judgements with `job_id`, `reviewer` and `verdict`, all or none.
        `lines` is a JSON Lines file or the judgements themselves. `source` says where they come
        from. Existing judgements stay. Raises BadRequest."""
        if isinstance(lines, str | PathLike):
            with opened(lines) as stream:
                body = stream.read()
        else:
            body = b"".join(encoded(line) + b"\n" for line in lines)
        path = f"/v1/judgements?{urlencode({'source': source})}"
        headers = {"Content-Type": "application/jsonl"}
        return read(
            models.Import, await self._api.ask(Request("POST", path, body, headers=headers))
        )

    def audit(self) -> AsyncPages[models.ReviewerJudgement]:
        """Return all judgements, including withdrawn ones, newest first. Needs a key with the scope
        `admin`."""
        read_one = models.ReviewerJudgement.model_validate
        return self._pages("/v1/judgements", read_one, history=True)


class AsyncReviewQueues(AsyncResource):
    """The operations of `/v1/review-queues`: results of a batch that people judge one by one."""

    async def create(
        self, batch: str, name: str, /, **fields: Unpack[_requests.ReviewQueueRequest]
    ) -> models.ReviewQueue:
        """Create a review queue from the results of a batch that has ended. Raises NotFound,
        Conflict."""
        body = {**fields, "batch": batch, "name": name}
        return models.ReviewQueue.model_validate(await self._once("POST", QUEUES, body))

    def list(self, *, batch: str | None = None) -> AsyncPages[models.ReviewQueue]:
        """Return review queues, newest first."""
        return self._pages(QUEUES, models.ReviewQueue.model_validate, batch=batch)

    async def get(self, queue_id: str) -> models.ReviewQueue:
        """Return the queue with its progress. Raises NotFound."""
        return read(models.ReviewQueue, await self._api.get(f"{QUEUES}/{queue_id}"))

    async def lease(
        self, queue_id: str, *, reviewer: str | None = None, skip: int | None = None
    ) -> models.NextReview:
        """Reserve the next line for this reviewer for ten minutes, and return it. Its `item` is
        None if no line is left. Judge the line with `judgements.give(item.job_id, …,
        queue=queue_id)`. `skip` is the position of a line that is left to other reviewers."""
        body = fields_of(None, {"reviewer": reviewer, "skip": skip})
        return read(models.NextReview, await self._api.post(f"{QUEUES}/{queue_id}/lease", body))

    async def close(self, queue_id: str) -> models.ReviewQueue:
        """Close the queue. Its judgements are kept."""
        answer = await self._api.ask(Request("POST", f"{QUEUES}/{queue_id}/close"))
        return read(models.ReviewQueue, answer)

    async def agreement(self, queue_id: str, timeout: float | None = None) -> Any:
        """Return the metric's report on the queue's lines. Its `agreement` compares the reviewers
        with each other and with the metric. Raises Conflict, TimedOut."""
        return await report_at(self._api, f"{QUEUES}/{queue_id}/agreement", timeout)
