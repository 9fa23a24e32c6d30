"""77 cases that SciPy computed: every number of the kernel to 1e-9."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from services.hlv import kernel, prompts

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "hlv_cases.json"

pytestmark = pytest.mark.skipif(not GOLDEN.exists(), reason="no golden numbers on this machine")


def cases(kind: str) -> list[Any]:
    if not GOLDEN.exists():
        return []
    found = json.loads(GOLDEN.read_text("utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in found if case["kind"] == kind]


def agree(ours: Any, expected: Any) -> None:
    if expected is None or expected == "inf":
        assert ours is None
    else:
        assert ours == pytest.approx(expected, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("case", cases("distribution"))
def test_distributions(case: dict[str, Any]) -> None:
    gold, model, expected = np.array(case["gold"]), np.array(case["model"]), case["expected"]
    gold_rank, model_rank = kernel.fractional_ranks(gold), kernel.fractional_ranks(model)
    ours = {
        "kl_model_gold_eps": kernel.kullback_leibler(model, gold, 1e-10),
        "kl_gold_model_eps": kernel.kullback_leibler(gold, model, 1e-10),
        "kl_model_gold_exact": kernel.kullback_leibler(model, gold, 0),
        "kl_gold_model_exact": kernel.kullback_leibler(gold, model, 0),
        "jsd_distance_nat": kernel.jensen_shannon(gold, model),
        "jsd_distance_base2": kernel.jensen_shannon(gold, model, base=2),
        "js_divergence_nat": kernel.jensen_shannon(gold, model) ** 2,
        "tvd": kernel.total_variation(gold, model),
        "gold_rank": gold_rank.tolist(),
        "model_rank": model_rank.tolist(),
        "tau_b": kernel.kendall_tau_b(gold_rank, model_rank),
        "tau_a": kernel.kendall_tau_a(gold_rank, model_rank),
        "spearman": kernel.spearman(gold_rank, model_rank),
    }
    assert ours.keys() == expected.keys()
    for name, value in ours.items():
        agree(value, expected[name])


@pytest.mark.parametrize("case", cases("ranking"))
def test_rankings(case: dict[str, Any]) -> None:
    gold, model = (
        kernel.fractional_ranks(np.array(case[side]), higher_is_better=case["higher_is_better"])
        for side in ("gold", "model")
    )
    expected = case["expected"]
    assert gold.tolist() == expected["gold_rank"]
    assert model.tolist() == expected["model_rank"]
    agree(kernel.kendall_tau_b(gold, model), expected["tau_b"])
    agree(kernel.kendall_tau_a(gold, model), expected["tau_a"])
    agree(kernel.spearman(gold, model), expected["spearman"])


@pytest.mark.parametrize("case", cases("scores"))
def test_scores(case: dict[str, Any]) -> None:
    gold, model = [np.array(row) for row in case["gold"]], [np.array(row) for row in case["model"]]
    pairs, expected = list(zip(gold, model, strict=True)), case["expected"]
    pooled = np.concatenate(gold), np.concatenate(model)
    root = [kernel.root_mean_square(*pair) for pair in pairs]
    agree(float(np.mean(root)), expected["rmse_instance_mean"])
    agree(kernel.root_mean_square(*pooled), expected["rmse_pooled"])
    absolute = [kernel.mean_absolute(*pair) for pair in pairs]
    agree(float(np.mean(absolute)), expected["mae_instance_mean"])
    agree(kernel.mean_absolute(*pooled), expected["mae_pooled"])
    agree(kernel.determination(*pooled), expected["r2_pooled"])


@pytest.mark.parametrize("case", cases("logits"))
def test_logits(case: dict[str, Any]) -> None:
    logits, expected = np.array(case["logits"]), case["expected"]
    share = kernel.absolute_share(logits)
    assert share is not None
    agree(kernel.softmax(logits).tolist(), expected["softmax"])
    agree(share.tolist(), expected["abs_sum_normalised_reference_repo"])
    assert kernel.fractional_ranks(logits).tolist() == expected["rank"]


@pytest.mark.parametrize("case", cases("rank_parse"))
def test_rank_parses(case: dict[str, Any]) -> None:
    expected = case["expected"]
    runs = [
        prompts.ranks_of(prompts.parse_ranking(raw, case["labels"]), case["labels"])
        for raw in case["raw_runs"]
    ]
    assert [run.tolist() for run in runs] == expected["per_run_ranks"]
    agree(np.mean(runs, axis=0).tolist(), expected["mean_ranks"])
    assert kernel.mean_ranks(runs).tolist() == expected["final_ranks"]
