"""Models by construction: the faithful one passes both tests, the unfaithful one has what chance
has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from services.consistency.report import ConsistencyResult
from services.consistency.verdict import nulls_of

if TYPE_CHECKING:
    from bench.planted_consistency import Quotes


SMALL, FULL = 12, 300


def chance_of(report: ConsistencyResult) -> float:
    """The score with the means of both nulls."""
    nulls = nulls_of(report)
    spans, words = nulls["simulatability"].mean, nulls["attribution"].mean
    assert spans is not None
    assert words is not None
    return (spans + (1 + words) / 2) / 2


def scored(quotes: Quotes) -> list[ConsistencyResult]:
    from bench.planted_consistency import results

    found = results(quotes, SMALL, draws=39, permutations=199)
    assert all(one.parts == ("simulatability", "attribution") for one in found)
    return found


def test_the_faithful_model_passes_both_tests() -> None:
    for report in scored("faithful"):
        assert report.score is not None
        assert report.score >= 0.9
        assert report.verdict == "holds_up"
        nulls = nulls_of(report)
        assert all((null.p_value or 1) <= 0.05 for null in nulls.values())
        assert report.components.precision_changes == report.components.precision_stays == 1


def test_the_unfaithful_model_has_what_chance_has() -> None:
    found = scored("unfaithful")
    off = [(report.score or 0) - chance_of(report) for report in found]
    assert np.mean(off) == pytest.approx(0, abs=0.03)
    assert max(report.score or 0 for report in found) < 0.6
    assert all(report.verdict != "holds_up" for report in found)
    assert {report.components.precision_changes for report in found} == {0.0}


def test_the_plain_share_cannot_tell_them_apart() -> None:
    """Why `robust` deviates: of edits nearly all of which change nothing, a wrong citation
    predicts nearly all."""
    from bench.planted_consistency import results

    for quotes, least in (("faithful", 1.0), ("unfaithful", 0.9)):
        kind: Quotes = "faithful" if quotes == "faithful" else "unfaithful"
        for report in results(kind, 4, variant="paper", parts=["simulatability"], draws=39):
            assert (report.components.simulatability or 0) >= least


@pytest.mark.parametrize("quotes", ["faithful", "unfaithful"])
def test_published_contributions_tell_them_apart_less_clearly(quotes: Quotes) -> None:
    """Every token of the explanation has one vote, also those that only noise moves."""
    from bench.planted_consistency import results

    for report in results(quotes, 3, variant="paper", parts=["attribution"], orders=2):
        cosine = report.components.cosine
        assert cosine is not None
        assert cosine > 0.5 if quotes == "faithful" else cosine < 0.3


@pytest.mark.nightly
def test_at_full_size() -> None:
    from bench.planted_consistency import consistency

    rows = consistency(FULL)
    assert rows["faithful"]["score"][0] >= 0.9
    assert rows["unfaithful"]["score - chance"][0] == pytest.approx(0, abs=0.02)
    for part in ("simulatability", "attribution"):
        assert rows["faithful"][f"{part} p <= .05"][0] >= 0.9
        assert rows["unfaithful"][f"{part} p <= .05"][1] <= 0.05
        assert rows["random"][f"{part} p <= .05"][1] <= 0.05
        assert rows["random"][f"{part} win rate"][0] == pytest.approx(0.5, abs=0.07)
