"""What a batch's page says first, with its denominators; pictures as data; addresses as views."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from services.gateway.pages.batch_outcome import BatchOutcome, outcome_of
from services.gateway.pages.batches import _seconds_left
from services.gateway.pages.result_query import (
    ResultQuery,
    parse_query,
    query_to_take,
)
from services.gateway.results.result_pages import COUNTED, CardCounts, ResultCounts
from services.registry import metrics
from shared.contracts.errors import BadInput
from shared.ledger.batches import Batch
from shared.ledger.score_hours import edges_of

ID = "batch_" + "0" * 32
BEATEN = {"value": 0.62, "low": 0.55, "high": 0.69, "of": 40}


def batch(metric: str = "hatexscore") -> Batch:
    now = datetime.now(UTC)
    given: dict[str, Any] = dict.fromkeys(Batch.__dataclass_fields__)
    return Batch(**given | {"id": ID, "metric": metric, "created_at": now, "tenant": "default"})


def view(*pairs: tuple[str, str], metric: str = "hatexscore") -> ResultQuery:
    return parse_query(batch(metric), "default", pairs)


def found(
    scored: int = 110, undefined: int = 0, metric: str = "hatexscore", **more: Any
) -> BatchOutcome:
    """Of so many results. more: `report`, `verdicts`, `why`."""
    edges = edges_of(metrics()[metric])
    bins = [0] * (len(edges) - 1)
    bins[3] = scored
    verdicts = more.get("verdicts", {"holds_up": scored, "not_tested": undefined})
    values: dict[str, dict[str, int]] = {name: {} for name in COUNTED}
    why = more.get("why", {"label-unknown": undefined} if undefined else {})
    card = CardCounts(verdicts, {}, more.get("reasons", {}), why)
    counts = ResultCounts(scored + undefined, scored, values | {"verdict": verdicts}, bins, card)
    return outcome_of(metrics()[metric], counts, more.get("report"))


def test_the_sentences_count_the_rows_that_the_page_shows() -> None:
    told = found(120, 3, reasons={"misquoted": 2, "no-score": 3})
    assert told.sentences[0] == "Of 123 explanations 120 hold up and 3 could not be tested."
    assert told.sentences[1] == "The only problem is: misquotes the post (2)."
    assert told.sentences[2].startswith(
        "The most frequent reason for a missing test is: label unknown (3)."
    )


class TestPictures:
    """Bars lead to their lines; parts are the report's."""

    def test_every_bin_leads_to_a_filter_that_its_page_understands(self) -> None:
        histogram = found().histogram
        assert histogram is not None
        edges = edges_of(metrics()["hatexscore"])
        for ends, shown in zip(pairwise(edges), histogram.bins, strict=True):
            address = view().only(
                *zip(("score_from", "score_to"), map(str, shown.range), strict=True)
            )
            wanted = view(*parse_qsl(urlsplit(address).query)).filter
            assert wanted.ranges == {"score": ends}
            assert wanted.top == edges[-1]

    def test_parts_are_the_reports_own_wherever_they_stand(self) -> None:
        report = {"scored": 50, "components": {"tgi": BEATEN | {"of": 25}}}
        [row] = found(report=report).parts
        assert row.term.name == "Names who is targeted"
        assert row.undefined == pytest.approx(0.5)
        assert row.place(0.62) == pytest.approx(0.62)

    def test_what_another_decision_wants_is_a_row_of_its_own(self) -> None:
        """Pooled, both numbers are the mix of the labels."""
        means = {"share_beaten": BEATEN, "components": {"qf": BEATEN}}
        decisions = {"hateful": means, "non-hateful": means, "unknown": means}
        report = {"scored": 50, **means, "by_decision": decisions}
        better = {row.term.name: row.term.better for row in found(report=report).parts}
        assert better == {
            "Quotes what matters: hateful decisions": "higher",
            "Quotes what matters: non-hateful decisions": "higher",
            "Beats random spans: hateful decisions": "higher",
            "Beats random spans: non-hateful decisions": "lower",
        }


class TestAddresses:
    """The address is the view."""

    PAIRS = (
        ("verdict", "holds_up"),
        ("meta", "market=nl"),
        ("score_from", "0.5"),
        ("sort", "qf"),
        ("desc", "1"),
        ("col", "market"),
    )

    def test_an_address_gives_the_same_view_again(self) -> None:
        one = view(*self.PAIRS, ("unknown", "x"), ("verdict", "nonsense"), ("custom_id", ""))
        assert one.pairs == self.PAIRS
        again = view(*parse_qsl(urlsplit(one.first).query))
        assert again == replace(one, ignored=())

    def test_a_chip_takes_its_own_filter_away_and_no_other(self) -> None:
        one = view(*self.PAIRS)
        assert len(one.chips) == 3
        for chip, gone in zip(one.chips, one.filters, strict=True):
            left = view(*parse_qsl(urlsplit(chip.address).query))
            assert set(one.pairs) - set(left.pairs) == {gone}

    @pytest.mark.parametrize(
        ("name", "value", "why"),
        [
            ("score_from", "much", "it is not a number"),
            ("verdict", "good", "it must be one of holds_up, problem_found"),
            ("reason", "mood", "it must be one of "),
            ("meta", "market", "write metadata as key=value"),
            ("colour", "red", "this filter does not exist"),
            ("sort", "beauty", "this column does not exist"),
            ("line", "first", "it is not a line number"),
            ("custom_id", "x" * 201, "it is longer than 200 characters"),
        ],
    )
    def test_what_cannot_be_read_is_told_and_filters_nothing(
        self, name: str, value: str, why: str
    ) -> None:
        shown = view((name, value), ("verdict", "not_tested"))
        assert shown.pairs == (("verdict", "not_tested"),)
        [told] = shown.ignored
        assert told.startswith(f"{name} = {value[:60]}")
        assert why in told
        with pytest.raises(BadInput, match="cannot be read"):
            query_to_take(batch(), "default", [(name, value)])

    def test_of_two_values_the_last_one_counts_and_the_first_is_told(self) -> None:
        shown = view(("verdict", "holds_up"), ("verdict", "not_tested"), ("after", "[1]"))
        assert [chip.text for chip in shown.chips] == ["verdict: not tested"]
        assert shown.ignored == (
            "verdict = holds_up: it occurs twice, so only the last one counts",
        )

    def test_an_empty_field_of_the_form_says_nothing(self) -> None:
        assert view(("score_from", ""), ("meta", ""), ("batch", ID)).ignored == ()

    def test_sorting_again_turns_round(self) -> None:
        first = view(*parse_qsl(urlsplit(view().sorted_by("score")).query))
        assert (first.order.by, first.order.descending) == ("score", False)
        assert first.sort_order("score") == "ascending"
        second = view(*parse_qsl(urlsplit(first.sorted_by("score")).query))
        assert second.sort_order("score") == "descending"


@pytest.mark.parametrize(("done", "left"), [(0, None), (4, None), (10, 90.0), (100, 0.0)])
def test_the_time_left_follows_from_the_pace_so_far(done: int, left: float | None) -> None:
    began = datetime.now(UTC) - timedelta(seconds=10)
    open_batch = replace(batch(), total=100, completed=done, failed=0, in_progress_at=began)
    found = _seconds_left(open_batch)
    assert found == (None if left is None else pytest.approx(left, abs=5))
