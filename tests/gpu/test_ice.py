"""On a GPU the metric reports what it reports on the CPU: closely in float32."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from bench.ice_gpu import TEMPLATE, TINY, behind_the_port, random_model, tokenizer
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceResult
from shared.models import ports

score_batch = SERVICE.score_batch

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]
REQUESTS = [
    IceRequest.model_validate(
        {
            "text": " ".join(f"w{100 + 41 * number + 3 * place}" for place in range(30)),
            "attribution": ["attention", "gradient"],
            "options": {"template": TEMPLATE, "k": [0.1, 0.3]},
        }
    )
    for number in range(6)
]


@pytest.fixture(autouse=True)
def _unbound() -> Iterator[None]:
    yield
    ports.bind(None)


def reports(device: str, dtype: str = "float32") -> list[IceResult]:
    weights = random_model(TINY)
    with torch.no_grad():
        for weight in weights.parameters():
            if weight.dim() > 1:
                weight.mul_(4)
    placed = weights.to(device=device, dtype=getattr(torch, dtype))
    ports.bind(behind_the_port(placed, tokenizer(), device, dtype))
    return score_batch(REQUESTS)


def rationale_scores(found: list[IceResult]) -> list[float]:
    return [
        test.scores.rationale
        for report in found
        for test in report.components.tests
        if test.scores is not None
    ]


def test_scores_and_win_rates_agree_with_the_cpu() -> None:
    ours, oracle = reports("cuda"), reports("cpu")
    assert rationale_scores(ours) == pytest.approx(rationale_scores(oracle), abs=1e-3)
    for mine, other in zip(ours, oracle, strict=True):
        rates = [
            (a.win_rate, b.win_rate)
            for a, b in zip(mine.components.tests, other.components.tests, strict=True)
        ]
        assert np.array(rates)[:, 0] == pytest.approx(np.array(rates)[:, 1], abs=0.05)


def test_alone_is_nearly_as_in_a_batch() -> None:
    together = reports("cuda")
    alone = [score_batch([request])[0] for request in REQUESTS]
    assert rationale_scores(together) == pytest.approx(rationale_scores(alone), abs=1e-4)


def test_half_precision_ends_in_a_report() -> None:
    found = reports("cuda", "bfloat16")
    assert all(report.score is not None for report in found)
