"""The figures of `bench.explanations`: areas, correlations, and what it makes of rationales."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.explanations import DATA, FILE, RATIONALES, correlation, measure, rationales
from services.worker import local
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue


def test_a_correlation_of_too_little_is_none() -> None:
    assert correlation([(0.1, 0.2), (0.2, 0.4)]) is None
    assert correlation([(0.1, 0.5), (0.2, 0.5), (0.3, 0.5)]) is None
    assert correlation([(0.1, 0.9), (0.2, 0.8), (0.3, 0.7)]) == pytest.approx(-1)


@pytest.mark.skipif(not (DATA / RATIONALES).exists(), reason="no shared data on this machine")
def test_rationales_are_quoted_word_for_word() -> None:
    for one in rationales()[:40]:
        quoted = one.explanation.split('"')[1::2]
        assert quoted
        assert all(run in one.text for run in quoted)


@pytest.mark.nightly
@pytest.mark.skipif(
    not ((DATA / RATIONALES).exists() and (DATA / FILE).exists()),
    reason="no shared data on this machine",
)
def test_real_explanations_stand_above_shuffled_ones_as_measured() -> None:
    """Asked for are .93, and leaks of at most .72 and .25. Reached by rationales that mark a part
    of their post (the others quote all of it: QF 0 by Eq. 3, as if they quoted nothing), and of all
    against those that quote nothing of the other post; others quote a word that both posts have,
    which is then a true quotation. Explanations of toxicity are asked of a model of hate speech: it
    makes few of these decisions, so that hardly a score is defined, and of their leaks nothing is
    known.
    """
    before = ports._Binding.models
    ports.bind(local(load_catalogue(Path("models.toml"))))
    try:
        found = measure()
    finally:
        ports.bind(before)
    people, written = found["by_people"], found["by_language_models"]
    assert people["area_real_against_shuffled"] >= 0.89
    assert people["area_against_those_that_quote_nothing"] >= 0.93 - 0.01
    assert people["area_of_those_that_do_not_quote_all"] >= 0.93
    assert people["that_do_not_quote_all"] >= 0.8 * people["with_a_score"]["real"]
    assert people["corr_p_qf"] <= 0.72
    assert people["read_right"] == people["group_named"] == people["posts"]
    assert written["read_right"] == written["posts"]
    assert written["area_real_against_shuffled"] >= 0.58
    assert people["hallucinated"] == written["hallucinated"] == 0
