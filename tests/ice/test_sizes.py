"""On a real encoder a random explanation is called faithful as seldom as chance allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from bench.ice_sizes import OPERATORS, attained, everyday, sizes
from shared.models import ports
from tests.ice.conftest import bind_bert

if TYPE_CHECKING:
    from services.inference.local_models import LocalModels


TEXTS = 700  # of six explanations each: a standard error of .0035 if they were independent
NIGHTLY = 0.01


@pytest.fixture(scope="module")
def _hate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModels]:
    yield bind_bert(tmp_path_factory.mktemp("encoder"), 4)
    ports.bind(None)


def held(texts: int, slack: float, operators: tuple[str, ...] = OPERATORS) -> None:
    found = sizes(list(everyday(texts)), more={"options": {"operators": operators}})
    assert len(found) == 3 * len(operators)
    for name, one in found.items():
        for observed, expected, error in one.shares.values():
            assert observed == pytest.approx(expected, abs=slack + 2 * error), name
        value, low, high = one.win_rate
        errors = 0.2 if low is None or high is None else (high - low) / 2  # two standard ones
        assert value == pytest.approx(0.5, abs=slack + errors), name


@pytest.mark.usefixtures("_hate")
def test_random_explanations_are_seldom_faithful_on_a_text() -> None:
    held(1, 0.3, ("delete",))


@pytest.mark.nightly
@pytest.mark.usefixtures("_hate")
def test_random_explanations_have_the_size_of_their_level() -> None:
    held(TEXTS, NIGHTLY)


def test_few_rivals_attain_less_than_the_level() -> None:
    assert attained(39, 0.05) == 0.05
    assert attained(18, 0.05) == 0
    assert attained(59, 0.1) == 6 / 60
