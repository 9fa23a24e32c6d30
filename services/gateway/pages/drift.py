"""The page `/drift`, which tests if scores changed between a reference period and the current
period.

The numbers come from hourly sums, which are kept longer than the jobs. The difference of means
follows Welch (1947), with normal quantiles. Results of the same text count as independent.

The population stability index (PSI; Siddiqi, 2006) compares the histograms of n and m scores in B
bins. Without a change it is about (1/n + 1/m) times chi-square with B - 1 degrees of freedom
(Yurdakul & Naranjo, 2020).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import NormalDist
from typing import Annotated

from fastapi import Query, Request
from sqlalchemy import Connection
from starlette.responses import Response

from services.gateway.auth import Viewer, check_scope
from services.gateway.http_requests import InDigits
from services.gateway.pages.page_route import page_router
from services.gateway.pages.templates import page
from services.gateway.refusals import UnknownMetric
from services.gateway.state import Gateway
from services.registry import metrics
from shared.ledger import score_hours
from shared.ledger.score_hours import ScoreSource, ScoreSums, edges_of
from shared.reports.pages.page_text import percent, significant
from shared.statistics.wilson import Z_95, wilson

FEWEST = 200  # results of a window
SAME = 1e-9  # of means that are sums of floats
LEVEL = 0.95
HALF = 0.5  # result that an empty bin is taken to hold, so that a ratio exists
WINDOWS, REFERENCES = (1, 7, 30), (7, 28, 90)
LONGEST_WINDOW = 90  # days
router = page_router()
Found = dict[ScoreSource, ScoreSums]


@dataclass(frozen=True)
class ScoreShift:
    """The change in scores from one period to a later one. `low` and `high` are the 95 % interval
    of the difference of the means, or None for too few scores. `psi_chance` is the population
    stability index that equal periods exceed once in twenty times. `undefined` is the change in the
    share of results without a score, with its interval."""

    earlier: ScoreSums
    later: ScoreSums
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    psi: float | None = None
    psi_chance: float | None = None
    undefined: tuple[float, float, float] | None = None

    @property
    def is_known(self) -> bool:
        return self.low is not None

    @property
    def has_shift(self) -> bool:
        """Return True if the interval of the difference of the means excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def has_changed_shape(self) -> bool:
        """Return True if the histograms of the two periods differ more than expected by chance."""
        return self.psi is not None and self.psi_chance is not None and self.psi > self.psi_chance


def score_shift(earlier: ScoreSums, later: ScoreSums) -> ScoreShift:
    """Compare two periods. No difference is computed if either has fewer than FEWEST scores."""
    if min(earlier.scored, later.scored) < FEWEST:
        return ScoreShift(earlier, later)
    # Newcombe (1998), Statistics in Medicine 17, method 10: Wilson's ends combined
    before, after = earlier.undefined / earlier.results, later.undefined / later.results
    low_before, high_before = wilson(before, earlier.results, Z_95)
    low_after, high_after = wilson(after, later.results, Z_95)
    more = after - before
    down = math.hypot(after - low_after, high_before - before)
    up = math.hypot(high_after - after, before - low_before)
    difference = (later.mean or 0.0) - (earlier.mean or 0.0)
    difference = difference if abs(difference) > SAME else 0.0
    error = math.sqrt(variance(earlier) / earlier.scored + variance(later) / later.scored)
    reach = Z_95 * error
    return ScoreShift(
        earlier,
        later,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        psi=psi(earlier.bins, later.bins),
        psi_chance=psi_threshold(earlier.bins, later.bins),
        undefined=(more, more - down, more + up),
    )


def variance(sums: ScoreSums) -> float:
    """Return the sample variance of at least two scores."""
    mean = sums.total / sums.scored
    return max(sums.squares - sums.scored * mean * mean, 0.0) / (sums.scored - 1)


def _bin_pairs(bins: list[int], other: list[int]) -> list[tuple[float, float]]:
    """Return pairs of counts for the bins that are not empty in at least one of both periods. A
    count of 0 becomes 0.5."""
    return [(a or HALF, b or HALF) for a, b in zip(bins, other, strict=True) if a or b]


def psi(earlier: list[int], later: list[int]) -> float:
    """Return the population stability index of two histograms: the sum of (p - q) ln(p / q), where
    p and q are the shares in each bin. It is at least 0."""
    pairs = _bin_pairs(earlier, later)
    before, after = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    return sum((b / after - a / before) * math.log((b / after) / (a / before)) for a, b in pairs)


def psi_threshold(earlier: list[int], later: list[int]) -> float:
    """Return the population stability index that is exceeded once in twenty times if nothing
    changed. The chi-square quantile is approximated as in Wilson and Hilferty (1931)."""
    degrees = max(len(_bin_pairs(earlier, later)) - 1, 1)
    spread = 2 / (9 * degrees)
    quantile = degrees * (1 - spread + NormalDist().inv_cdf(LEVEL) * math.sqrt(spread)) ** 3
    return (1 / sum(earlier) + 1 / sum(later)) * quantile


@dataclass(frozen=True)
class DriftRow:
    """The change in scores of one metric and model. `changed` lists versions and variants that are
    new in the later period."""

    metric: str
    model: str
    found: ScoreShift
    sentence: str
    changed: Sequence[str]
    low: float
    high: float

    @property
    def has_scores(self) -> bool:
        """Return True if either period has a score."""
        return bool(self.found.earlier.scored or self.found.later.scored)


@router.get("/drift")
async def drift_page(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    days: Annotated[int, Query(ge=1, le=LONGEST_WINDOW), InDigits] = 7,
    reference: Annotated[int, Query(ge=1, le=365), InDigits] = 28,
    metric: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Show the change in scores for every metric and model used in the period."""
    check_scope(caller, "score")
    if metric and metric not in metrics():
        raise UnknownMetric(f"there is no metric {metric!r}; choose one of: {', '.join(metrics())}")
    until = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    since = until - timedelta(days=days)
    begin = since - timedelta(days=reference)

    def read(connection: Connection) -> tuple[Found, Found, datetime | None]:
        """Return the sums of the earlier and the later period, and the last hour with a result."""
        earlier = score_hours.sums_of(connection, caller.tenant, begin, since)
        later = score_hours.sums_of(connection, caller.tenant, since, until)
        return earlier, later, score_hours.last_hour(connection, caller.tenant, metric)

    earlier, later, last = await gateway.in_ledger(read)
    rows = [row for row in drift_rows(earlier, later) if metric in ("", row.metric)]
    sums = [of_source for found in (earlier, later) for of_source in found.items()]
    return page(
        request,
        "drift.html",
        rows=rows,
        days=days,
        reference=reference,
        metric=metric,
        metrics=list(metrics()),
        windows=sorted({*WINDOWS, days}),
        references=sorted({*REFERENCES, reference}),
        fewest=FEWEST,
        last=last,
        edited=sum(window.edited for source, window in sums if metric in ("", source.metric)),
        reach=None if last is None else min((until - last).days + 1, LONGEST_WINDOW),
    )


def drift_rows(earlier: Found, later: Found) -> list[DriftRow]:
    """Return one row per metric and model with results in the later period. Rows with a change come
    first."""
    earlier, later = (
        {source: sums for source, sums in found.items() if sums.results}
        for found in (earlier, later)
    )
    keys = sorted({(source.metric, source.model) for source in later})
    rows = [_row(metric, model, earlier, later) for metric, model in keys]
    return sorted(rows, key=lambda row: (not row.found.has_shift, not row.found.is_known))


def _row(metric: str, model: str, earlier: Found, later: Found) -> DriftRow:
    before, after = ScoreSums(), ScoreSums()
    for sums, by_source in ((before, earlier), (after, later)):
        for source, of_source in by_source.items():
            if (source.metric, source.model) == (metric, model):
                sums.add(of_source)
    known = {(key.variant, key.metric_version) for key in earlier if key.metric == metric}
    new = {
        (key.variant, key.metric_version)
        for key in later
        if (key.metric, key.model) == (metric, model)
    } - known
    changed = [f"{variant} {version}".strip() for variant, version in sorted(new)] if known else []
    edges = edges_of(metrics().get(metric))
    shift = score_shift(before, after)
    return DriftRow(metric, model, shift, sentence_of(shift), changed, edges[0], edges[-1])


def sentence_of(shift: ScoreShift) -> str:
    """Describe the change of the scores in a sentence. It reports a shift of the mean only if the
    interval excludes 0."""
    if shift.difference is None:
        before, now = shift.earlier.scored, shift.later.scored
        counts = f"{before:,} before and {now:,} now"
        return f"There are too few scores: {counts}. Each window needs {FEWEST}."
    between = f"{significant(shift.low or 0.0)} to {significant(shift.high or 0.0)}"
    if not shift.has_shift:
        sentence = f"The mean has not changed more than expected by chance (interval {between})."
    else:
        way = "higher" if shift.difference > 0 else "lower"
        size = significant(abs(shift.difference))
        sentence = f"The mean has changed and is now {size} {way} than before (interval {between})."
    if shift.has_changed_shape and not shift.has_shift:
        sentence += " The spread of the scores has changed."
    if shift.undefined is not None and not shift.undefined[1] <= 0 <= shift.undefined[2]:
        way = "more" if shift.undefined[0] > 0 else "fewer"
        sentence += f" {percent(abs(shift.undefined[0]))} {way} of the results have no score."
    return sentence
