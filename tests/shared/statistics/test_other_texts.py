"""A p that is calibrated on other texts: laws, and its size where texts are exchangeable."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import Generator

from shared.statistics.other_texts import (
    FEWEST_OTHERS,
    MOST_OTHERS,
    STRATA,
    OtherText,
    calibrated_p,
    standings,
)
from shared.statistics.ranks import Floats
from shared.statistics.seeds import generator

LEVELS = (0.05, 0.1, 0.2, 0.5)


def text(random: Generator) -> Floats:
    """The scores of all placements in a text that has a few strong words, or none."""
    count = int(random.integers(FEWEST_OTHERS, MOST_OTHERS + 1)) + 1
    strong = random.random(count) < random.beta(1, 4)
    return np.asarray(random.exponential(2) * (random.normal(size=count) + 3 * strong))


def test_every_number_of_few_placements_has_one_stratum() -> None:
    covered = [others for least, most in STRATA for others in range(least, most + 1)]
    assert covered == list(range(FEWEST_OTHERS, MOST_OTHERS + 1))


@pytest.mark.parametrize("factor", [1.0, 50.0])
def test_standings_do_not_depend_on_where_the_scores_lie(factor: float) -> None:
    values = factor * generator(1, "values").normal(size=12)
    assert standings(values + 7) == pytest.approx(standings(values))
    assert standings(values).sum() == pytest.approx(0)
    assert np.argmax(standings(values)) == np.argmax(values)
    assert not standings(np.full(5, 0.3)).any()


def test_p_falls_as_the_explanation_stands_out_and_is_never_zero() -> None:
    random = generator(2, "reference")
    reference = [OtherText(1, standings(text(random))) for _ in range(200)]
    found = [calibrated_p(one, 10, 1, reference) for one in np.linspace(-5, 5, 50)]
    p = [one.p_value for one in found if one is not None]
    assert len(p) == 50
    assert p == sorted(p, reverse=True)
    assert (min(p), max(p)) == (1 / (1 + found[0].texts) if found[0] else None, 1.0)
    anti = [one.p_anti for one in found if one is not None]
    assert anti == sorted(anti)


@pytest.mark.parametrize("others", [0, 3, 19, 400])
def test_there_is_none_where_nothing_can_stand_out_or_an_exact_one_exists(others: int) -> None:
    assert calibrated_p(2.0, others, 1, [OtherText(1, standings(np.arange(others + 1.0)))]) is None


def test_there_is_none_without_texts_to_compare_with() -> None:
    assert calibrated_p(2.0, 10, 1, []) is None
    assert calibrated_p(2.0, 10, 1, [OtherText(1, standings(np.arange(5.0)))]) is None
    assert calibrated_p(2.0, 4, 2, [OtherText(1, standings(np.arange(5.0)))]) is None
    assert calibrated_p(2.0, 4, 2, [OtherText(3, standings(np.arange(5.0)))]) is not None


def shares(texts: int, references: int, others: int) -> Floats:
    """How often p is at most each of `LEVELS`, for random explanations of exchangeable texts.

    The explanation counts as one more text, so with N texts compared p is 1 / (N + 1) too large.
    """
    found = []
    for number in range(references):
        random = generator(3, "exchangeable", number)
        reference = [OtherText(1, standings(text(random))) for _ in range(others)]
        for _ in range(texts):
            own = standings(text(random))
            p = calibrated_p(float(random.choice(own)), own.size - 1, 1, reference)
            found.append(1.0 if p is None else p.p_value)
    return np.array([np.mean(np.array(found) <= level) for level in LEVELS])


def test_p_is_uniform_on_average_over_exchangeable_texts() -> None:
    assert shares(60, 25, others=250) == pytest.approx(LEVELS, abs=0.025)


@pytest.mark.nightly
def test_p_is_uniform_on_average_over_many_exchangeable_texts() -> None:
    assert shares(200, 100, others=1_000) == pytest.approx(LEVELS, abs=0.01)
