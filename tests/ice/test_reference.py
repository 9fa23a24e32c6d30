"""Variant reference against the package that it stands for, and the scripts' loop typed anew."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from services.ice.contract import IceRequest
from services.ice.experiment import Experiment
from services.ice.metric import SERVICE
from services.ice.model_calls import run_experiments
from services.ice.report import IceResult
from services.ice.variants import released
from shared.models import ports
from tests.flat_requests import flat_request

if TYPE_CHECKING:
    from bench.ice import ReleasedInput


if TYPE_CHECKING:
    from services.inference.classifier import LocalClassifier


score = SERVICE.score

pytestmark = pytest.mark.skipif(find_spec("ice") is None, reason="needs ice-faithfulness")
DRAWS, SEED = 50, 42
TEXTS = [" ".join(f"w{100 + 37 * n + 3 * place}" for place in range(20)) for n in range(4)]


@pytest.fixture(scope="module")
def causal() -> Iterator[Any]:
    """A random two-layer GPT-2 whose weights are large, so that scores differ."""
    import torch

    from bench.ice import ReleasedInput
    from bench.ice_gpu import LABEL_TOKENS, TINY, behind_the_port, random_model, tokenizer

    model = random_model(TINY)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(4)
    words = tokenizer()
    ports.bind(behind_the_port(model, words))
    yield ReleasedInput(model, words, LABEL_TOKENS, ())
    ports.bind(None)


def asked(causal: ReleasedInput, text: str) -> ReleasedInput:
    from bench.ice import ReleasedInput

    return ReleasedInput(
        causal.model, causal.tokenizer, causal.labels, [int(w[1:]) for w in text.split()]
    )


def ours(text: str, method: str, **more: Any) -> IceResult:
    from bench.ice_gpu import TEMPLATE

    fields = {"text": text, "template": TEMPLATE, "attribution": method, "draws": DRAWS}
    return score(flat_request(IceRequest, fields | {"seed": SEED} | more))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["attention", "gradient"])
@pytest.mark.parametrize("text", TEXTS)
def test_the_package_says_the_same_on_the_same_draws(
    causal: ReleasedInput, text: str, method: str
) -> None:
    import torch

    from bench.ice import package

    with torch.enable_grad():
        causal.model.requires_grad_(requires_grad=True)
        theirs = package(asked(causal, text), method, DRAWS, SEED)
        causal.model.requires_grad_(requires_grad=False)
    report = ours(text, method, variant="reference")
    test, suf = report.components.tests[0], theirs["per_operator_suf"][0]
    assert test.scores is not None
    assert test.scores.full == pytest.approx(suf["original_score"], abs=1e-5)
    assert test.scores.rationale == pytest.approx(suf["intervened_score"], abs=1e-5)
    assert test.scores.empty == pytest.approx(suf["baseline_score"], abs=1e-5)
    assert test.tokens == theirs["rationale_length"]
    assert test.nsr == pytest.approx(theirs["sufficiency_nsd"], abs=1e-3)
    assert test.null.mean == pytest.approx(theirs["null_mean"], abs=1e-3)
    assert test.null.sd == pytest.approx(theirs["null_std"], abs=1e-3)
    assert test.strict_win_rate == pytest.approx(theirs["win_rate"], abs=1e-9)
    assert test.p_value == pytest.approx(theirs["randomization_p_value"], abs=1e-9)
    assert test.effect == pytest.approx(theirs["effect_size"], abs=1e-2)
    assert report.score == test.strict_win_rate


@pytest.mark.parametrize("method", ["attention", "gradient"])
@pytest.mark.parametrize("text", TEXTS)
def test_the_scripts_loop_says_the_same_on_the_same_masks(
    causal: ReleasedInput, text: str, method: str
) -> None:
    import torch

    from bench.ice import script
    from bench.ice_gpu import TEMPLATE

    request = IceRequest.model_validate(
        {"text": text, "attribution": method, "options": {"template": TEMPLATE, "draws": DRAWS}}
    )
    [(experiment, _)] = run_experiments([request])
    assert isinstance(experiment, Experiment)
    trial = experiment.trials[0]
    places = experiment.null_positions(trial)
    masks = [experiment._drawn[trial.null.key].subsets[place] for place in places]
    with torch.enable_grad():
        theirs = script(asked(causal, text), method, masks)
    assert trial.rationale == theirs.rationale
    assert experiment.observed("delete", trial) == pytest.approx(theirs.observed, abs=1e-5)
    assert experiment.null("delete", trial, places) == pytest.approx(theirs.null, abs=1e-5)
    test = score(request).components.tests[0]
    assert test.strict_win_rate == pytest.approx(theirs.win_rate)
    assert test.p_value == pytest.approx(theirs.p_value)
    assert test.effect == pytest.approx(theirs.effect * np.sqrt((DRAWS - 1) / DRAWS), rel=1e-3)


SENTENCE = "the garden was green after the rain and people walk slowly under old windows today"


@pytest.mark.filterwarnings("ignore")
def test_three_operators_and_their_mean_are_the_package_s(encoder: LocalClassifier) -> None:
    """Deletion, mask and unk, NSR averaged, on an encoder with special tokens."""
    import ice  # it loads torch
    import torch

    from bench.ice import np_state

    weights = encoder._weights
    read = weights.tokenizer(SENTENCE, return_tensors="pt")
    values = np.random.default_rng(1).random(read["input_ids"].shape[1])
    with np_state():
        evaluator = ice.ICEEvaluator(
            weights.model,
            weights.tokenizer,
            ice.ICEConfig(operators="full", n_permutations=DRAWS, device="cpu", seed=SEED),
        )
        logits = weights.model(**read).logits[0]
        theirs = evaluator.evaluate_single(
            read["input_ids"],
            read["attention_mask"],
            torch.tensor(values),
            int(logits.argmax()),
        )
    starts = weights.tokenizer(SENTENCE, return_offsets_mapping=True)["offset_mapping"]
    spans = [
        {"start": start, "end": end, "value": float(value)}
        for (start, end), value in zip(starts, values, strict=True)
        if end > start
    ]
    report = score(
        IceRequest.model_validate(
            {
                "text": SENTENCE,
                "model": "m",
                "variant": "reference",
                "attributions": spans,
                "seed": SEED,
                "options": {"operators": ["delete", "mask", "mask_unk"], "draws": DRAWS},
            }
        )
    )
    *each, mean = report.components.tests
    assert 0 not in [test.nsr for test in each]  # outside the dead zone
    for test, suf in zip(each, theirs["per_operator_suf"], strict=True):
        assert test.scores is not None
        assert test.scores.rationale == pytest.approx(suf["intervened_score"], abs=1e-5)
        assert test.scores.empty == pytest.approx(suf["baseline_score"], abs=1e-5)
        assert test.nsr == pytest.approx(suf["sufficiency_nsd"], abs=1e-3)
    assert mean.nsr == pytest.approx(theirs["sufficiency_nsd"], abs=1e-3)
    assert mean.strict_win_rate == pytest.approx(theirs["win_rate"], abs=1e-9)
    assert mean.p_value == pytest.approx(theirs["randomization_p_value"], abs=1e-9)
    assert mean.effect == pytest.approx(theirs["effect_size"], abs=1e-2)


def test_the_released_draws_begin_anew_for_every_example() -> None:
    assert list(islice(released(7, 20, 4), 5)) == list(islice(released(7, 20, 4), 5))
