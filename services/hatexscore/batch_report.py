"""HateXScore over many posts: each component's mean with a confidence interval, and label
conflicts. Pure functions of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.report import (
    MOST_NAMED,
    Decision,
    HatexscoreBatchReport,
    HatexscoreComponents,
    HatexscoreDecisionMeans,
    HatexscoreGroupEvidence,
    HatexscoreLabelConflicts,
    HatexscoreModelAgreement,
    HatexscoreQuoteCounts,
    HatexscoreResult,
    HatexscoreTestedTogether,
)
from services.hatexscore.verdict import LEVEL, tested_p
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.estimates import UNIT, BatchStatistics
from shared.reports.pages.page_text import counted, percent
from shared.statistics.comparison import LEAST_P, normal_p, omnibus_z
from shared.statistics.families import FALSE_DISCOVERIES, discovered, local_false_discovery

Row = Scored[HatexscoreRequest, HatexscoreResult]
Statistics = BatchStatistics[BatchReportRequest]


FOUND = ("exact", "inflected", "fuzzy", "missing", "unsearched")  # a quotation in its text
FAITHLESS = 0.8  # agreement under which QF tells about the model
FOREIGN = "the judge agrees with {share} of the decisions; {said} the {results} where it disagrees"


def batch_report(rows: Sequence[Row], over: Statistics) -> HatexscoreBatchReport:
    """Summarise the explanations of a batch and their contradictions with the decisions."""
    common = over.envelope()
    agreement = model_agreement(rows, over)
    share = None if agreement is None else agreement.agreement.value
    if share is not None and share < FAITHLESS:
        disagreeing = [row for row in _known(rows) if not _agrees(row)]
        left_out = all(row.report.components.qf is None for row in disagreeing)
        effect = (
            "QF is left out of" if left_out else "QF describes the judge, not the explanation, in"
        )
        common["warnings"] = (
            *common["warnings"],
            FOREIGN.format(
                share=percent(share), said=effect, results=counted(len(disagreeing), "result")
            ),
        )
    return HatexscoreBatchReport(
        **common,
        components={part: common["parts"][part].mean for part in HatexscoreComponents.model_fields},
        share_beaten=over.mean("share_beaten", _shares_beaten(rows), over.keys(rows), UNIT),
        by_decision={
            decision: _means(decision, rows_of_decision, over)
            for decision, rows_of_decision in sorted(_by_decision(rows).items())
        },
        model_agreement=agreement,
        evidence=_evidence(rows, over),
        labels=label_conflicts(rows),
        quotes=quote_counts(rows),
        groups=dict(sorted(Counter(g for row in rows for g in row.report.groups).items())),
        categories=dict(sorted(Counter(c for row in rows for c in _categories(row)).items())),
        languages=dict(sorted(Counter(row.report.language for row in rows).items())),
    )


def _categories(row: Row) -> set[str]:
    """Return the categories of the groups that count as named (component TGI)."""
    mentions = (span for span in row.report.evidence if isinstance(span, HatexscoreGroupEvidence))
    return {mention.category for mention in mentions if mention.counts}


def _by_decision(rows: Sequence[Row]) -> dict[Decision, list[Row]]:
    groups: dict[Decision, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.report.decision or "unknown", []).append(row)
    return groups


def _means(name: str, rows: Sequence[Row], over: Statistics) -> HatexscoreDecisionMeans:
    """Return the means of all components over these rows. `name` is the part of the batch."""
    keys = over.keys(rows)

    def mean(what: str, values: Sequence[float | None]) -> Interval:
        return over.mean(f"{name} {what}", values, keys, UNIT)

    controls = [row.report.control for row in rows]
    return HatexscoreDecisionMeans(
        results=len(rows),
        score=mean("score", [row.report.score for row in rows]),
        components={
            part: mean(part, [getattr(row.report.components, part) for row in rows])
            for part in HatexscoreComponents.model_fields
        },
        share_beaten=mean("share_beaten", _shares_beaten(rows)),
        qf_excess=over.mean(
            f"{name} qf_excess",
            [control.qf_excess if control else None for control in controls],
            keys,
            (-1.0, 1.0),
        ),
        together=_tested_together(rows, over) if name == "hateful" else None,
    )


def _shares_beaten(rows: Sequence[Row]) -> list[float | None]:
    controls = [row.report.control for row in rows]
    return [control.share_beaten if control else None for control in controls]


def _tested_together(rows: Sequence[Row], over: Statistics) -> HatexscoreTestedTogether | None:
    """Test the quotes of all results at once, and find single results that stand out."""
    pairs = [(row, control) for row in rows if (control := row.report.control)]
    if not pairs:
        return None
    controls = [control for _, control in pairs]
    keys = over.keys([row for row, _ in pairs])
    z = omnibus_z(
        np.array([control.share_beaten for control in controls]),
        [control.win_rate_draws or control.draws for control in controls],
        keys,
    )
    rates = local_false_discovery(
        [control.rank - 1 for control in controls], [control.draws for control in controls]
    )
    discovered_rows = [
        row for (row, _), is_found in zip(pairs, discovered(rates), strict=True) if is_found
    ]
    return HatexscoreTestedTogether(
        results=len(pairs),
        texts=len(set(keys)),
        z=z or 0.0,
        p_value=max(normal_p(z or 0.0), LEAST_P),
        rate=FALSE_DISCOVERIES,
        found=len(discovered_rows),
        named=tuple(row.custom_id or row.job_id for row in discovered_rows)[:MOST_NAMED],
    )


def _evidence(rows: Sequence[Row], over: Statistics) -> Interval | None:
    """Return the share of tested hateful decisions whose quotes pass the test."""
    tested = [
        (row, p[0])
        for row in rows
        if row.report.decision == "hateful"
        and (control := row.report.control) is not None
        and (p := tested_p(control)) is not None
    ]
    if not tested:
        return None
    return over.share([float(p <= LEVEL) for _, p in tested], over.keys([row for row, _ in tested]))


def model_agreement(rows: Sequence[Row], over: Statistics) -> HatexscoreModelAgreement | None:
    """Return how often the model's label equals the decision. Only results that have both count."""
    judged = _known(rows)
    if not judged:
        return None
    return HatexscoreModelAgreement(
        agreement=_agreement(judged, over),
        by_decision={
            decision: _agreement(rows_of_decision, over)
            for decision, rows_of_decision in sorted(_by_decision(judged).items())
        },
    )


def _known(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with a decision and a known P(hateful)."""
    return [
        row for row in rows if row.report.decision and row.report.probability_original is not None
    ]


def _agreement(rows: Sequence[Row], over: Statistics) -> Interval:
    return over.share([float(_agrees(row)) for row in rows], over.keys(rows))


def _agrees(row: Row) -> bool:
    return bool(row.report.model_agrees)


def quote_counts(rows: Sequence[Row]) -> HatexscoreQuoteCounts:
    """Count quotations by how they match the text, and results by their worst quotation."""
    each = [_quotes_of(row.report) for row in rows]
    whole: Counter[str] = sum(each, Counter())
    worst = Counter(map(_worst, each))
    return HatexscoreQuoteCounts(
        **{way: whole[way] for way in FOUND},
        **{f"results_{way}": worst[way] for way in ("exact", "rough", "missing", "without")},
    )


def _quotes_of(report: HatexscoreResult) -> Counter[str]:
    counts: Counter[str] = Counter(span.match for span in report.evidence if span.kind == "quote")
    counts["missing"] = len(report.hallucinated_quotes)
    counts["unsearched"] = report.quotes_unsearched
    return counts


def _worst(found: Counter[str]) -> str:
    if found["missing"]:
        return "missing"
    if not found.total():
        return "without"
    return "exact" if found["exact"] == found.total() else "rough"


def label_conflicts(rows: Sequence[Row]) -> HatexscoreLabelConflicts:
    """Compare the labels in requests with the labels that the explanations state."""
    matches = Counter(row.report.decision_match for row in rows)
    return HatexscoreLabelConflicts(
        compared=matches[True] + matches[False],
        conflicting=matches[False],
        no_conclusion=sum(row.report.stated_decision is None for row in rows),
        conflicts=tuple(
            row.custom_id or row.job_id for row in rows if row.report.decision_match is False
        )[:MOST_NAMED],
    )
