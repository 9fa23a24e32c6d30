"""The costliest requests that the contracts admit: what is really asked of models stays within what
the estimate says, and the metrics' own work grows no faster than the estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from services.cot2el.contract import CONTRACT as COT2EL
from services.cot2el.kernel import _Counting, align
from services.ftc.contract import CONTRACT as FTC
from services.ftc.metric import SERVICE as FTC_SERVICE
from services.haf.contract import CONTRACT as HAF
from services.haf.metric import SERVICE as HAF_SERVICE
from services.haf.model_calls import MOST_PAIRS
from services.hatexscore.contract import CONTRACT as HATEXSCORE
from services.hatexscore.metric import SERVICE as HATEXSCORE_SERVICE
from services.hlv.contract import CONTRACT as HLV
from services.hlv.model_calls import run_judges
from services.ice.contract import CONTRACT as ICE
from services.ice.metric import SERVICE as ICE_SERVICE
from shared.contracts.calls import Completion, Example, Pair, Prompt, Sampling
from shared.contracts.request_cost import WorkLimit
from shared.models.ports import Floats
from shared.readers.model import OUTPUTS
from tests.fakes import FakeModel, FakeModels, bound_models
from tests.flat_requests import flat_request
from tests.ice.planted import planted, word

ftc = FTC_SERVICE.score
haf = HAF_SERVICE.score
hatexscore = HATEXSCORE_SERVICE.score
ice = ICE_SERVICE.score

LIMIT = WorkLimit(seconds=900, tokens_per_second=10_000)
WORDS = "because the garden was green after the rain and nobody came to see it again "
LETTERS = [chr(65 + place) for place in range(26)]


class Counting(FakeModel):
    """Counts what it is asked for."""

    labels: tuple[str, ...] = ("entailment", "neutral", "contradiction")

    def __init__(self) -> None:
        self.rows = 0
        self.prompts = 0

    def probabilities(self, texts: Sequence[str]) -> Floats:
        self.rows += len(texts)
        weights = 0.5 ** np.arange(len(self.labels))
        return np.tile(weights / weights.sum(), (len(texts), 1))

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        return list(self.probabilities([example.text for example in examples]))

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        self.prompts += len(prompts)
        return super().generate(prompts, sampling)

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        self.rows += len(pairs)
        return super().similarities(pairs)


@pytest.fixture
def model() -> Iterator[Counting]:
    """Bound as every model."""
    one, every = Counting(), FakeModels()
    every.model = one
    with bound_models(every):
        yield one


def accepted(metric: Any, **fields: Any) -> Any:
    """The request, if the gateway would accept it."""
    request = flat_request(metric.request, fields)
    LIMIT.check(metric.work(request, 512))
    return request


def test_hatexscore_asks_for_its_draws_and_two(model: Counting) -> None:
    model.labels = ("non-hateful", "hateful")
    text = (WORDS * 300)[:20_000]
    quoted = " ".join(f'"{text[start : start + 25]}zz"' for start in range(0, 20_000, 101))
    request = accepted(HATEXSCORE, text=text, explanation=quoted[:20_000], control_draws=100)
    hatexscore(request)
    assert 0 < model.rows <= 102


def test_ftc_asks_for_its_draws_and_a_few(model: Counting) -> None:
    counterfactuals = [
        {"kind": kind, "text": f"A dog {kind} sleeps in the garden"} for kind in ("a", "b")
    ]
    request = accepted(
        FTC,
        premise=(WORDS * 300)[:20_000],
        hypothesis="A man sleeps in the garden",
        explanation=(WORDS * 300)[:20_000],
        decision="neutral",
        counterfactuals=counterfactuals,
        draws=200,
    )
    ftc(request)
    assert 0 < model.rows <= 2 * (2 + 200) + 1


def test_haf_compares_each_token_of_a_response_once(model: Counting) -> None:
    model.labels = OUTPUTS
    lines = "\n".join(f"{n + 1}. {WORDS}" for n in range(60))
    text = f"The text is toxic.\n{lines}"
    tokens = [
        {"id": None, "start": start, "end": min(start + 4, len(text)), "logprob": -0.1}
        for start in range(0, len(text), 4)
    ]
    justify = {"text": text, "tokens": tokens}
    haf(accepted(HAF, text="x", similarity="alike", responses={"justify": justify}))
    reasons = 60
    assert 0 < model.rows <= min(MOST_PAIRS, len(tokens) + reasons + reasons * (reasons - 1) // 2)


@pytest.mark.parametrize("order", ["fixed", "rotated"])
def test_hlv_counts_every_prompt(model: Counting, order: str) -> None:
    request = accepted(
        HLV,
        model="lm",
        question=WORDS * 20,
        options=[{"key": key, "text": f"option {key}"} for key in LETTERS],
        explanations=[{"explanation": WORDS, "label": key} for key in LETTERS],
        human={"votes": [dict.fromkeys(LETTERS, 1)] * 1_000},
        judge={"methods": ["rank", "score"], "runs": 26, "order": order},
    )
    run_judges([request])
    [work] = HLV.work(request, 512)
    prompts = work.sizes[0].value * work.sizes[1].value
    assert prompts <= model.prompts <= 2 * prompts  # what cannot be read is asked for once more


def test_ice_asks_for_no_more_rows_than_were_counted() -> None:
    text = " ".join(map(word, range(40)))
    own = [
        {"name": f"e{n}", "attributions": [{"start": n, "end": 3 * n + 4, "value": 1}]}
        for n in range(8)
    ]
    request = accepted(
        ICE,
        text=text,
        attribution=["attention", "gradient"],
        explanations=own,
        k=[0.2, 0.3, 0.5],
        operators=["delete", "mask_unk", "mask_pad"],
        draws=2_000,
    )
    with planted(lambda ids: (sum(ids) % 97) / 100) as judge:
        report = ice(request)
    rows = next(work for work in ICE.work(request, 512) if work.unit == "rows")
    trials = 10 * 3
    assert sum(judge.calls) <= rows.amount + 3 * (trials + 1)
    assert len(report.components.comparisons) == 3 * 3 * 45


STEPS: dict[str, Callable[[int], tuple[list[str], list[str]]]] = {
    "prose": lambda n: ([WORDS] * 20, [f"{k} {WORDS}" for k in range(n)]),
    "short units": lambda n: ([WORDS] * 20, [f"{k}" for k in range(n)]),
    "short explanations": lambda n: ([f"{k} it" for k in range(20)], [WORDS + "!"] * n),
}  # fmt: skip


@pytest.mark.parametrize("family", STEPS)
def test_cot2el_compares_few_units_in_full(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    full = 0
    ratio = _Counting.ratio

    def counting(self: Any) -> float:
        nonlocal full
        full += 1
        return ratio(self)

    monkeypatch.setattr(_Counting, "ratio", counting)
    counts = []
    for size in (100, 1_000):
        explanations, units = STEPS[family](size)
        full = 0
        align(explanations, units)
        counts.append(full)
    assert counts[1] <= 10 * counts[0] + 100
    assert counts[1] <= 20 * 1_000


def test_cot2el_s_largest_alignment_is_refused_at_the_door() -> None:
    fields: dict[str, Any] = {
        "question": "Is it so?",
        "options": [{"key": "A", "text": "yes"}, {"key": "B", "text": "no"}],
        "reasoning": (WORDS * 300)[:20_000],
    }
    pair = [{"explanation": f"{n} {WORDS * 10}", "label": "A"} for n in range(60)]
    accepted(COT2EL, **fields, pairs=pair, control_draws=50)
    with pytest.raises(Exception, match="characters of `pairs` to at most"):
        accepted(COT2EL, **fields, pairs=[one | {"label": "B"} for one in pair] + pair)
