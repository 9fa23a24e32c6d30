"""How alike statements of a batch are, and the report over them."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest

from services.sor.batch_report import batch_report
from services.sor.contract import CONTRACT, SorRequest
from services.sor.likeness import compute_similarity, jaccard, shingles
from services.sor.metric import SERVICE
from services.sor.report import SorResult
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from shared.contracts.service import MetricContract
from shared.reports.estimates import BatchStatistics

pytestmark = pytest.mark.usefixtures("reader")

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrst"]
TEMPLATE = "We removed the listing. It offers “{0}”. Our rules of today do not want this any more."


def drawn(words: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))  # noqa: S311 - no secret


def test_copies_are_found_and_others_are_not() -> None:
    texts = [drawn(60, seed) for seed in range(30)]
    found = compute_similarity([(text, "a post") for text in [*texts, texts[7]]])
    assert (found[7].nearest, found[30].nearest) == (30, 7)
    assert found[7].similarity == found[30].similarity == found[7].shared == 1
    rest = [one for number, one in enumerate(found) if number not in (7, 30)]
    assert all((one.similarity or 0) < 0.1 for one in rest)


def test_a_template_is_boilerplate_whatever_it_quotes() -> None:
    posts = [drawn(12, seed) for seed in range(8)]
    found = compute_similarity([(TEMPLATE.format(post), post) for post in posts])
    assert all(one.similarity == one.shared == 1 for one in found)


@pytest.mark.parametrize("kept", [30, 42, 54])
def test_near_copies_are_found_with_their_similarity(kept: int) -> None:
    texts = [drawn(60, seed).split() for seed in range(40)]
    pairs = [" ".join(text[:kept]) + " " + drawn(60 - kept, 99) for text in texts]
    statements = [(" ".join(text), "post") for text in texts] + [(pair, "post") for pair in pairs]
    found = compute_similarity(statements)
    sets = [shingles(*one) for one in statements]
    hits = 0
    for number in range(40):
        exact = max(
            (jaccard(sets[number], other), place)
            for place, other in enumerate(sets)
            if place != number
        )
        hits += found[number].nearest == exact[1]
        if found[number].nearest == exact[1]:
            assert found[number].similarity == pytest.approx(exact[0])
    assert hits >= 38


def test_order_changes_no_shared_share() -> None:
    statements = [(drawn(30, seed % 5), "post") for seed in range(12)]
    forwards = [one.shared for one in compute_similarity(statements)]
    assert [one.shared for one in compute_similarity(statements[::-1])][::-1] == forwards


def test_alone_and_empty() -> None:
    assert compute_similarity([("one statement of several words", "post")])[0].shared is None
    assert compute_similarity([]) == []
    assert compute_similarity([("two words", "post"), ("here too", "post")])[0].shared is None


def test_time_is_linear_where_all_are_copies() -> None:
    def seconds(count: int) -> float:
        statements = [(drawn(40, 1), "post")] * count
        begun = time.process_time()
        compute_similarity(statements)
        return time.process_time() - begun

    seconds(100)
    short, long = seconds(200), seconds(1_600)
    assert long < 8 * short * 4


def rows_of(statements: Sequence[tuple[str, str]]) -> list[Scored[SorRequest, SorResult]]:
    found = []
    for number, (statement, post) in enumerate(statements):
        request = SorRequest(text=post, statement=statement, language="en")
        found.append(Scored(f"job_{number}", None, request, SERVICE.score(request)))
    return found


def test_the_report_counts_what_is_missing_and_lists_the_most_alike() -> None:
    contract = CONTRACT
    assert isinstance(contract, MetricContract)
    good = contract.examples["a specific statement"]
    plain = contract.examples["boilerplate"]
    statements = [(good["statement"], good["text"])] + [(plain["statement"], plain["text"])] * 3
    rows = rows_of(statements)
    request = BatchReportRequest(jobs=tuple(row.job_id for row in rows), resamples=100)
    report = batch_report(rows, BatchStatistics(contract, rows, request))
    assert report.missing["facts"].value == 0.75
    assert report.missing["restriction"].value == 0
    assert report.copies.value == 0.75
    assert {one.job for one in report.most_alike} == {"job_1", "job_2", "job_3"}
    assert all(one.similarity == 1 for one in report.most_alike)
    assert report.boilerplate.value is not None
    assert report.boilerplate.value >= 0.75
