# Made by sdk/generate.py from _async/client.py; do not edit.
"""The client of the service: one method per metric, and one object per kind of resource."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, overload

from pydantic import BaseModel

from touchstone_client._sync.api import Api
from touchstone_client._sync.handles import Batch, Job
from touchstone_client._sync.judgements import Judgements, ReviewQueues
from touchstone_client._sync.many import Many, OnError, Via
from touchstone_client._sync.resources import (
    Batches,
    Files,
    Jobs,
    Models,
    Reports,
    Webhooks,
    created_job,
    endpoint_of,
)
from touchstone_client._http import Access, Http
from touchstone_client._messages import models
from touchstone_client._progress import Progressing, progress_of
from touchstone_client._tables import Framed, Listed, Scores
from touchstone_client._wire import MOST_WAIT_SECONDS, Fields, fields_of, job_of, part_of
from touchstone_client.data.frames import frame_of
from touchstone_client.data.mapping import Columns

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from touchstone_client import _requests

HERE = "http://127.0.0.1:8000"
WAIT_SECONDS = 60.0
Asked = BaseModel | Fields | None  # a request; its fields may also be given by name


class Touchstone:
    """A client for one service. Its connections stay open until `close` or the end of a `with`
    block.

    `url` and `api_key` default to TOUCHSTONE_URL and TOUCHSTONE_API_KEY. `patience` is how many
    seconds a call waits for a service that is unavailable. `timeout` is the maximum number of
    seconds without a byte of a response.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        patience: float = 60.0,
        timeout: float = 60.0,
    ) -> None:
        address = url or os.environ.get("TOUCHSTONE_URL") or HERE
        key = api_key or os.environ.get("TOUCHSTONE_API_KEY") or None
        self._use(Http(Access(address.rstrip("/"), key)), patience, timeout)

    def _use(self, http: Http, patience: float, timeout: float) -> None:
        self._api = Api(http, patience=patience, timeout=timeout)
        self.jobs = Jobs(self._api)
        self.batches = Batches(self._api)
        self.files = Files(self._api)
        self.models = Models(self._api)
        self.reports = Reports(self._api)
        self.webhooks = Webhooks(self._api)
        self.judgements = Judgements(self._api)
        self.review_queues = ReviewQueues(self._api)

    def __enter__(self) -> Touchstone:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Return the address of the service."""
        return self._api.url

    def description(self) -> dict[str, Any]:
        """Return the service's OpenAPI 3.1 description."""
        document: dict[str, Any] = json.loads((self._api.get("/openapi.json")).body)
        return document

    def close(self) -> None:
        """Close the connections."""
        self._api.close()

    def hatexscore(
        self,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Unpack[_requests.HatexscoreRequest],
    ) -> models.HatexscoreResult:
        """Score a hate-speech explanation. Does it state a decision, quote what drives the
        prediction, name the group, and cohere?"""
        result: models.HatexscoreResult = self._score("hatexscore", request, wait, fields)
        return result

    def ice(
        self,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Unpack[_requests.IceRequest],
    ) -> models.IceResult:
        """Change the text to test if the tokens that an explanation names matter more than random
        tokens."""
        result: models.IceResult = self._score("ice", request, wait, fields)
        return result

    def haf(
        self,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Unpack[_requests.HafRequest],
    ) -> models.HafResult:
        """Score the reasons that a language model gives. Would a rational human stand by them?"""
        result: models.HafResult = self._score("haf", request, wait, fields)
        return result

    def ftc(
        self,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Unpack[_requests.FtcRequest],
    ) -> models.FtcResult:
        """Test if the logic of an explanation holds for a counterfactual."""
        result: models.FtcResult = self._score("ftc", request, wait, fields)
        return result

    def hlv(
        self,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Unpack[_requests.HlvRequest],
    ) -> models.HlvResult:
        """Compare how a judge (usually a language model) and people rank options."""
        result: models.HlvResult = self._score("hlv", request, wait, fields)
        return result

    def cot2el(
        self,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Unpack[_requests.Cot2elRequest],
    ) -> models.Cot2elResult:
        """Find the sentences of a chain of thought that speak for and against each option."""
        result: models.Cot2elResult = self._score("cot2el", request, wait, fields)
        return result

    def sor(
        self,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Unpack[_requests.SorRequest],
    ) -> models.SorResult:
        """Find what a statement of reasons leaves out, and whether it is about this post."""
        result: models.SorResult = self._score("sor", request, wait, fields)
        return result

    def consistency(
        self,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Unpack[_requests.ConsistencyRequest],
    ) -> models.ConsistencyResult:
        """Test if a model's own explanation predicts its answers."""
        result: models.ConsistencyResult = self._score("consistency", request, wait, fields)
        return result

    def explain(
        self,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Unpack[_requests.ExplanationsRequest],
    ) -> models.ExplanationsResult:
        """Ask a model for a decision and an explanation, and score the explanation with metrics."""
        result: models.ExplanationsResult = self._score("explanations", request, wait, fields)
        return result

    def explain_many(
        self,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Unpack[_requests.ExplanationsRequest],
    ) -> list[models.ExplanationsResult]:
        """Explain each of `items` (up to 32) with `draws` repetitions (up to 16), each in a
        separate job. Return the results in order. Raises the first exception of `explain`."""
        begun = time.monotonic()
        sent = fields_of(request, fields)
        answer = self._api.post(endpoint_of("explanations"), sent, wait=0.0)
        document = json.loads(answer.body)
        jobs = [
            Job[Any](self._api, job_of(entry), sent)
            for entry in (document["data"] if document["object"] == "list" else [document])
        ]
        left = None if wait is None else max(0.0, begun + wait - time.monotonic())
        return [job.wait(left) for job in jobs]

    def explanation_schema(self) -> dict[str, Any]:
        """Return the JSON schema of an explanation, to use in a prompt."""
        answer = self._api.get("/v1/schemas/explanation")
        schema: dict[str, Any] = json.loads(answer.body)
        return schema

    # fmt: off
    @overload
    def score(self, metric: Literal["explanations"], request: Asked = None, /, *, wait: float | None = WAIT_SECONDS, **fields: Unpack[_requests.ExplanationsRequest]) -> models.ExplanationsResult: ...  # noqa: E501
    @overload
    def score(self, metric: Literal["hatexscore"], request: Asked = None, /, *, wait: float | None = WAIT_SECONDS, **fields: Unpack[_requests.HatexscoreRequest]) -> models.HatexscoreResult: ...  # noqa: E501
    @overload
    def score(self, metric: Literal["ice"], request: Asked = None, /, *, wait: float | None = WAIT_SECONDS, **fields: Unpack[_requests.IceRequest]) -> models.IceResult: ...  # noqa: E501
    @overload
    def score(self, metric: Literal["haf"], request: Asked = None, /, *, wait: float | None = WAIT_SECONDS, **fields: Unpack[_requests.HafRequest]) -> models.HafResult: ...  # noqa: E501
    @overload
    def score(self, metric: Literal["ftc"], request: Asked = None, /, *, wait: float | None = WAIT_SECONDS, **fields: Unpack[_requests.FtcRequest]) -> models.FtcResult: ...  # noqa: E501
    @overload
    def score(self, metric: Literal["hlv"], request: Asked = None, /, *, wait: float | None = WAIT_SECONDS, **fields: Unpack[_requests.HlvRequest]) -> models.HlvResult: ...  # noqa: E501
    @overload
    def score(self, metric: Literal["cot2el"], request: Asked = None, /, *, wait: float | None = WAIT_SECONDS, **fields: Unpack[_requests.Cot2elRequest]) -> models.Cot2elResult: ...  # noqa: E501
    @overload
    def score(self, metric: Literal["sor"], request: Asked = None, /, *, wait: float | None = WAIT_SECONDS, **fields: Unpack[_requests.SorRequest]) -> models.SorResult: ...  # noqa: E501
    @overload
    def score(self, metric: Literal["consistency"], request: Asked = None, /, *, wait: float | None = WAIT_SECONDS, **fields: Unpack[_requests.ConsistencyRequest]) -> models.ConsistencyResult: ...  # noqa: E501
    @overload
    def score(self, metric: str, request: Asked = None, /, *, wait: float | None = WAIT_SECONDS) -> Any: ...  # noqa: E501
    # fmt: on
    def score(
        self,
        metric: str,
        request: Asked = None,
        /,
        *,
        wait: float | None = WAIT_SECONDS,
        **fields: Any,
    ) -> Any:
        """Score one explanation with a metric and return the result. `request` is a message or a
        dict; fields may also be passed by name. `wait` is in seconds, or None for no limit. Raises
        BadRequest, JobFailed, or TimedOut while the job continues."""
        return self._score(metric, request, wait, fields)

    def _score(
        self, metric: str, request: Asked, wait: float | None, fields: Mapping[str, Any]
    ) -> Any:
        begun = time.monotonic()
        most = MOST_WAIT_SECONDS if wait is None else wait
        job = created_job(self._api, metric, fields_of(request, fields), most)
        left = None if wait is None else max(0.0, begun + wait - time.monotonic())
        return job.wait(left)

    @overload
    def score_many(
        self,
        data: pandas.DataFrame,
        metric: str,
        *,
        columns: Columns | None = None,
        progress: Progressing = True,
        on_error: OnError = "keep",
        via: Via = "auto",
    ) -> pandas.DataFrame: ...
    @overload
    def score_many(  # type: ignore[overload-cannot-match]  # without stubs of pandas
        self,
        data: Iterable[Fields | BaseModel],
        metric: str,
        *,
        columns: Columns | None = None,
        progress: Progressing = True,
        on_error: OnError = "keep",
        via: Via = "auto",
    ) -> Scores: ...
    def score_many(
        self,
        data: Any,
        metric: str,
        *,
        columns: Columns | None = None,
        progress: Progressing = True,
        on_error: OnError = "keep",
        via: Via = "auto",
    ) -> Any:
        """Score every row of a table, or every request in an iterable, in order.

        For a pandas or polars DataFrame, or a Hugging Face `Dataset`, return
        a copy with additional columns: `score`, `components.*`, `verdict`,
        `reason`, `warnings`, `job_id` and `error`. For any other iterable of
        requests, return a list of results.

        `columns` maps fields to columns. Without it, columns are matched by
        field name or synonym. An entry may also be `{"column": "flag",
        "values": {"1": "hateful"}}`, or `{"value": 7}` for all rows.
        `"metadata": ["model", "market"]` lists columns of metadata. An empty
        cell is not sent.

        `progress` shows a tqdm bar if tqdm is installed. It may also be a
        function of (done, total).

        `on_error` is "keep" to store the error of a row, or "raise" to raise
        the first one.

        `via` is "calls" (API calls with up to 1,000 rows each), "batch", or
        "auto". "auto" uses a batch for more than 1,000 rows and for
        `explanations`, whose columns are `elicitation.*` and `scores.*`.

        Raises TypeError for other data, and NotFound for an unknown metric."""
        table: Listed | Framed
        frame = frame_of(data)
        table = Listed(data, columns) if frame is None else Framed(frame, metric, columns)
        with progress_of(progress, table.total) as shown:
            self._score_rows(table, metric, on_error, via, shown)
        return table.finished()

    def _score_rows(
        self, table: Listed | Framed, metric: str, on_error: OnError, via: Via, shown: Any
    ) -> None:
        Many(self._api, metric, table, on_error).run(via, shown)

    def compare(
        self,
        a: Batch | str,
        b: Batch | str,
        *,
        by: Sequence[str] = (),
        timeout: float | None = None,
    ) -> models.SystemComparison:
        """Compare two batches of one metric on the same texts. Every difference is `a` minus `b`,
        with an interval.

        A part of a batch is written as `batch_…:metadata.KEY=VALUE` or `batch_…:model=NAME`. `by`
        lists keys that split the difference further, such as `metadata.market`. Raises BadRequest
        if the batches cannot be compared, and ValueError for an invalid name of a part.
        """
        first, other = (part_of(side if isinstance(side, str) else side.id) for side in (a, b))
        batch = self.batches.get(first["batch"]) if isinstance(a, str) else a
        fields: Any = {**first, "against": other, **({"by": list(by)} if by else {})}
        report = self.reports.make(batch.metric, timeout=timeout, **fields)
        comparison: models.SystemComparison = report.comparison
        return comparison
