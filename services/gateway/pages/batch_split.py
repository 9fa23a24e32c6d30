"""The results of a batch split by a column or metadata key. Each value has its mean and interval.
Counts and means are shown at once. Intervals and the test come from the same report that `POST
/v1/reports` with `by` computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection

from services.gateway.caller import Caller
from services.gateway.pages.result_query import LONGEST, ResultQuery, value_name
from services.gateway.results import result_pages
from services.gateway.routes.scores import get_report_job
from services.gateway.state import State
from services.registry import metrics
from shared.contracts.errors import ScoringError
from shared.contracts.reports import ScoreSplit
from shared.ledger.batches import Batch
from shared.ledger.jobs import Job
from shared.ledger.score_hours import edges_of
from shared.reports.pages.page_text import counted, p_value
from shared.reports.pages.report_design import Forest, ForestRow

FEWEST = 2
FEW = 10  # results of a value: fewer are grey
LEVEL = 0.05
MUCH = 0.1  # between the undefined shares of two values
COLUMNS = {
    "model": "model",
    "decision_sent": "decision sent",
    "decision_stated": "decision stated",
    "language": "language",
    "verdict": "verdict",
    "variant": "variant",
}
MISSING = "The intervals have not been computed yet."
Counted = Mapping[str, Mapping[str, int]]  # column → value → rows


@dataclass(frozen=True)
class SplitRow:
    """The results of the lines that share one value of the split column. `value` is the displayed
    value. `undefined` is the share of results without a score. `address` is the URL that shows
    these lines; it is empty if the value is too long for a filter."""

    value: str
    results: int
    undefined: float
    interval: Mapping[str, Any]
    address: str

    @property
    def is_small(self) -> bool:
        return self.results < FEW


@dataclass(frozen=True)
class BatchSplit:
    """The results of a batch, split by the values of a property, as the page shows them. `job` is
    the job that computes the intervals. `pairs` holds differences of means (second minus first).
    Their p-values are corrected by Holm's method."""

    by: str
    rows: tuple[SplitRow, ...]
    sentence: str
    forest: Forest
    without: int
    job: Job | None = None
    found: ScoreSplit | None = None

    @property
    def cautions(self) -> list[str]:
        """Return reasons why the parts of a split batch may not be comparable. For example, they
        may cover different texts."""
        sentences, split = [], self.found
        over_texts = split is not None and (split.within_texts or self.by == "model")
        if split is not None and over_texts and (split.common_texts or 0) < (split.texts or 0):
            sentences.append(
                f"Only {split.common_texts or 0:,} of {counted(split.texts or 0, 'text')} with a "
                "score have a score under every value, so the rows cover different texts. To "
                "compare equal texts, compare two parts of the batch."
            )
        shares = [row.undefined for row in self.rows]
        if self.by != "verdict" and shares and max(shares) - min(shares) > MUCH:
            sentences.append(
                f"Depending on the value, {min(shares):.0%} to {max(shares):.0%} of the lines have "
                "no score. The means leave these lines out, so the means may not be comparable."
            )
        return sentences

    @property
    def is_pending(self) -> bool:
        return self.job is not None and not self.job.is_final

    @property
    def is_missing(self) -> bool:
        return self.sentence == MISSING


def split_keys(view: ResultQuery, keys: Mapping[str, int], counted: Counted) -> dict[str, str]:
    """Return the columns and metadata keys by which the results can be split, with their display
    names. They have 2 to 50 values."""
    columns = {name: said for name, said in COLUMNS.items() if len(counted.get(name, ())) > 1}
    known = columns | metadata_split_keys(keys)
    return known or ({view.split: view.split} if view.split else {})


def metadata_split_keys(keys: Mapping[str, int]) -> dict[str, str]:
    """Return the metadata keys by which the results can be split, with their display names. `keys`
    maps each metadata key to its number of values."""
    return {f"metadata.{key}": key for key, values in keys.items() if FEWEST <= values <= MOST}


MOST = result_pages.MOST_VALUES


async def split_of(
    batch: Batch, gateway: State, caller: Caller, view: ResultQuery, *, create: bool = False
) -> BatchSplit | None:
    """Return the results split by the key in the page's address, or None if it has no key. If
    `create`, create the report that computes the intervals."""
    contract = metrics().get(batch.metric)
    if not view.split or contract is None:
        return None

    def read(connection: Connection) -> list[result_pages.SplitCount]:
        return result_pages.split_counts(connection, view.filter, view.split)

    counts = await gateway.in_ledger(read)
    values = sum(count.value is not None for count in counts)
    job, why = await _report(batch, gateway, caller, view, values, create=create)
    splits = (job.result or {}).get("splits", ()) if job is not None else ()
    split = next(map(ScoreSplit.model_validate, splits), None)
    known = {} if split is None else {value.value: value.score for value in split.values}
    rows = tuple(
        _row(view, count, known.get(count.value)) for count in counts if count.value is not None
    )
    edges = edges_of(contract)
    forest = Forest(
        f"Mean score by {view.split.removeprefix('metadata.')}",
        [ForestRow(row.value, row.interval) for row in rows],
        (edges[0], edges[-1]),
    )
    without = sum(count.rows for count in counts if count.value is None)
    said = why or (MISSING if job is None else _sentence(split))
    return BatchSplit(view.split, rows, said, forest, without, job, split)


async def _report(
    batch: Batch, gateway: State, caller: Caller, view: ResultQuery, values: int, *, create: bool
) -> tuple[Job | None, str]:
    """Return (job that computes the intervals, ""), or (None, reason why there is none). The reason
    is empty if nobody has created the job. `values` is the number of values in the split."""
    if not FEWEST <= values <= MOST:
        return None, f"There is no split: the key has {values} values, but 2 to {MOST} are allowed."
    if not caller.has_scope("batch"):
        return None, "There are no intervals: your API key may not make reports."
    contract = metrics()[batch.metric].batch
    try:
        body = contract.request.model_validate(
            {**await _source(gateway, view), "by": (view.split,), "pairwise": view.pairwise}
        )
    except ValidationError:
        return None, "There are no intervals: a report cannot split by a key with this name."
    try:
        owner = caller.owner(gateway.settings)
        job = await get_report_job(contract, body, gateway, owner, create=create)
    except ScoringError as error:
        return None, f"There are no intervals: {error.detail}."
    if job is not None and job.error is not None:
        return job, f"There are no intervals: {job.error.get('detail', 'the report failed')}."
    return job, ""


async def _source(gateway: State, view: ResultQuery) -> dict[str, Any]:
    """Return the source of a report: the id of the whole batch, or the ids of the filtered jobs."""
    if view.is_whole:
        return {"batch": view.filter.batch_id}
    return {
        "jobs": await gateway.in_ledger(
            lambda connection: result_pages.job_ids(connection, view.filter)
        )
    }


def _row(view: ResultQuery, count: result_pages.SplitCount, score: Any) -> SplitRow:
    value = count.value or ""
    interval = {"value": count.mean, "low": None, "high": None, "of": count.scored}
    if score is not None and score.value is not None:
        interval |= {"value": score.value, "low": score.low, "high": score.high}
    key = view.split.removeprefix("metadata.")
    pair = ("meta", f"{key}={value}") if key != view.split else (view.split, value)
    address = view.within(pair) if len(pair[1]) <= LONGEST else ""
    named = value_name(view.split, value)
    return SplitRow(named, count.rows, 1 - count.scored / count.rows, interval, address)


def _sentence(split: ScoreSplit | None) -> str:
    if split is None:
        return "The intervals are being computed…"
    if split.warnings:
        return f"There is no split: {split.warnings[0]}."
    if split.p_value is None:
        return "There are too few results to test whether the values differ."
    how = "a permutation test over texts"
    if split.within_texts:
        how += " and within texts"
    shown = f"p = {p_value(split.p_value)}".replace("= <", "<")
    words = f"more than expected by chance ({how}, {shown})."
    return f"The values {'differ' if split.p_value <= LEVEL else 'do not differ'} {words}"
