"""How often quotes that are no better than chance are called better, on real posts (skipped where
there are none): 5 % of those that can be told. No post is printed.

The spans are drawn as the null draws them. Quotations by way of an explanation would not do: a
function word alone is no quotation, so that these are no random spans of the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.control import marked, reported, short_posts
from bench.explanations import DATA, RATIONALES
from services.hatexscore.model_calls import RandomPlacements
from services.hatexscore.quotes import count_units
from services.hatexscore.words import Span
from services.worker import local
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.statistics.group_sequential import looks_up_to
from shared.statistics.seeds import generator
from tests.hatexscore.fake import FakeClassifier, bound, surely

LEVEL = 0.05
MOST_AT_ONCE = 200
pytestmark = pytest.mark.skipif(
    not (DATA / RATIONALES).exists(), reason="no shared data on this machine"
)


@dataclass(frozen=True)
class RandomQuote:
    """A span of a post at a random place, as long as what people marked in it."""

    text: str
    span: Span
    others: int  # places besides this one

    @property
    def size(self) -> float:
        """How often p <= 0.05 is due by chance, exactly."""
        return looks_up_to(min(self.others, 199)).size


def longest_runs() -> Iterator[tuple[str, int]]:
    """Posts with a rationale, and the tokens of its longest run."""
    for line in (DATA / RATIONALES).read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        marked = [bool(one) for one in row["rationale_majority"] or ()]
        runs = [len(list(several)) for held, several in groupby(marked) if held]
        if runs:
            yield row["text"], max(runs)


@contextmanager
def shipped_models() -> Iterator[None]:
    before = ports._Binding.models
    ports.bind(local(load_catalogue(Path("models.toml"))))
    try:
        yield
    finally:
        ports.bind(before)


def random_quotes(each: int, seed: int) -> Iterator[RandomQuote]:
    """each: of every post that has enough places for a p of 0.05."""
    for number, (text, length) in enumerate(longest_runs()):
        units = count_units(text)
        random = generator(seed, "random quote", number)
        for _ in range(each if length < len(units) else 0):
            first = int(random.integers(len(units) - length + 1))
            span = (units[first][0], units[first + length - 1][1])
            others = RandomPlacements.of(text, [span]).others
            if others >= 19:
                yield RandomQuote(text, span, others)


def share_called_better(quotes: Sequence[RandomQuote]) -> tuple[float, float, int]:
    """(`evidence` of a batch of hateful decisions, what is due by chance, decisions that the judge
    makes, too)."""
    told, due = [], []
    for start in range(0, len(quotes), MOST_AT_ONCE):
        some = quotes[start : start + MOST_AT_ONCE]
        reports = reported([(one.text, [one.span]) for one in some], "hateful")
        for quote, report in zip(some, reports, strict=True):
            control = report.control
            if control is not None and control.p_value is not None and control.attainable_p:
                assert control.attainable_p <= LEVEL
                told.append(control.p_value <= LEVEL)
                due.append(quote.size)
    return float(np.mean(told)), float(np.mean(due)), len(told)


def test_random_quotes_are_called_better_as_often_as_chance_allows() -> None:
    """400 of them: three standard errors."""
    quotes = list(random_quotes(1, seed=1))[:400]
    assert len(quotes) >= 300
    with bound(FakeClassifier(surely)):
        found, due, _ = share_called_better(quotes)
    assert 0.03 < due <= LEVEL
    assert found == pytest.approx(due, abs=3 * np.sqrt(due * (1 - due) / len(quotes)))


@pytest.mark.nightly
@pytest.mark.timeout(3_600)  # 90,000 texts for a small model: minutes of a quiet core
@pytest.mark.parametrize("judge", ["surely", "embedded-hate"])
def test_of_all_posts_one_random_quote_in_twenty_is_called_better(judge: str) -> None:
    each = 8 if judge == "surely" else 3
    quotes = list(random_quotes(each, seed=2))
    if judge == "surely":
        with bound(FakeClassifier(surely)):
            found, due, told = share_called_better(quotes)
    else:
        with shipped_models():
            found, due, told = share_called_better(quotes)
    print(f"{judge}: {found:.4f} of {told}, due {due:.4f}")  # noqa: T201 - the card's
    error = np.sqrt(due * (1 - due) / told)  # a judge of its own makes a third of the decisions
    assert found <= LEVEL + 0.01 + 2 * error
    assert found == pytest.approx(due, abs=3 * error)


@pytest.mark.nightly
@pytest.mark.timeout(3_600)  # 2,000 texts for a small model
def test_the_p_that_other_posts_calibrate_has_its_size_on_average_over_posts() -> None:
    """Of all placements of what people marked in short posts; a stratum has a larger limit."""
    with shipped_models():
        posts = list(marked(DATA, RATIONALES))
        *strata, every = short_posts(posts, agreeing=True)
        *_, disagreeing = short_posts(posts, agreeing=False)
    print(*strata, every, sep="\n")  # noqa: T201 - the card's
    assert every["size"] == pytest.approx(LEVEL, abs=0.01)
    assert max(row["size"] for row in strata) <= 0.08
    assert disagreeing["size"] <= LEVEL
