"""Attributions equal plain loops over transformers and autograd; integrated gradients complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from services.inference import attribution
from services.inference.attribution import rollout
from services.inference.causal import LocalLanguageModel
from services.inference.classifier import LocalClassifier
from shared.contracts.calls import AttributionMethod, Example, ExampleRows, Row, Template
from shared.contracts.errors import BadInput, DegenerateInput
from shared.statistics import lime
from tests.inference.loops import attention_layers, embedding_gradient, integrated

TEMPLATE = Template(
    prefix="Is the weather good or bad? ",
    suffix="\nAnswer:",
    verbalizers={"up": " good", "down": " the"},
)
TEXT = "People walk slowly under the old windows."


def method(name: str, **more: Any) -> AttributionMethod:
    return AttributionMethod.model_validate({"name": name} | more)


@pytest.fixture(params=["bert", "gpt2", "llama"])
def judged(
    request: pytest.FixtureRequest, shaped: Callable[[str], LocalLanguageModel]
) -> tuple[Any, Example, str, int]:
    """(model, example, target, which output of the torch model it is)."""
    if request.param == "bert":
        return request.getfixturevalue("bert"), Example(text=TEXT), "yes", 2
    model = shaped(request.param)
    token = model._weights.tokenizer(" the", add_special_tokens=False)["input_ids"]
    return model, Example(text=TEXT, template=TEMPLATE), "down", token[0]


def embedded(model: Any, ids: Any) -> torch.Tensor:
    table = model._weights.model.get_input_embeddings()
    found: torch.Tensor = table(torch.tensor(list(ids))).detach()
    return found


def test_attention_is_the_reading_tokens_row(judged: tuple[Any, Example, str, int]) -> None:
    model, example, target, _ = judged
    ids = model.tokens([example])[0].ids
    layers = attention_layers(model._weights.model, ids)  # (layers, T, T)
    place = 0 if isinstance(model, LocalClassifier) else -1
    before = model.judge([example])[0]
    oracles = {"mean": layers.mean(axis=0)[place], "last": layers[-1][place]}
    through = np.eye(len(ids))
    for layer in layers:
        through = (layer + np.eye(len(ids))) / 2 @ through
    oracles["rollout"] = through[place]
    for over, oracle in oracles.items():
        answer = model.attributions([example], [target], method("attention", attention=over))[0]
        assert answer.values == pytest.approx(oracle, abs=1e-5)
        assert sum(answer.values) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(model.judge([example])[0], before)  # the usual attention is back


def test_rollout_of_uniform_attention_stays_a_distribution() -> None:
    layers = [torch.full((4, 4), 0.25, dtype=torch.float64)] * 3
    assert rollout(layers).sum(dim=1) == pytest.approx(torch.ones(4))


def test_gradients_agree_with_autograd(judged: tuple[Any, Example, str, int]) -> None:
    model, example, target, output = judged
    embeddings = embedded(model, model.tokens([example])[0].ids)
    slope, _ = embedding_gradient(model._weights.model, embeddings, output)
    for kind, oracle in (
        ("l2", np.linalg.norm(slope, axis=1)),
        ("input_x_gradient", (slope * embeddings.double().numpy()).sum(axis=1)),
    ):
        answer = model.attributions([example], [target], method("gradient", gradient=kind))[0]
        assert answer.values == pytest.approx(oracle, abs=1e-5, rel=1e-5)


def test_integrated_gradients_agree_and_complete(judged: tuple[Any, Example, str, int]) -> None:
    model, example, target, output = judged
    tokens = model.tokens([example])[0]
    there = embedded(model, tokens.ids)
    padding = embedded(model, [tokens.pad_id])
    of_text = torch.tensor([part == "text" for part in tokens.parts])[:, None]
    here = torch.where(of_text, padding, there)
    few = model.attributions([example], [target], method("integrated_gradients", steps=4))[0]
    oracle = integrated(model._weights.model, (here, there), output, 4)
    assert few.values == pytest.approx(oracle, abs=1e-5, rel=1e-5)
    assert all(v == 0 for v, part in zip(few.values, tokens.parts, strict=True) if part != "text")
    ends = [embedding_gradient(model._weights.model, end, output)[1] for end in (there, here)]
    assert few.convergence_gap == pytest.approx(sum(oracle) - ends[0] + ends[1], abs=1e-4)
    many = model.attributions([example], [target], method("integrated_gradients", steps=400))[0]
    gaps = [abs(answer.convergence_gap or 0) for answer in (few, many)]
    assert gaps[1] < max(0.02, 0.2 * gaps[0])


def test_a_verbalizer_of_several_tokens_has_a_gradient_too(causal: LocalLanguageModel) -> None:
    template = TEMPLATE.model_copy(update={"verbalizers": {"up": " zebra", "down": " zoo"}})
    example = Example(text=TEXT, template=template)
    answer = causal.attributions([example], ["up"], method("integrated_gradients", steps=400))[0]
    assert len(answer.values) == len(causal.tokens([example])[0].ids)
    assert abs(answer.convergence_gap or 1) < 0.05


def test_lime_is_seeded_and_its_rows_are_the_models(judged: tuple[Any, Example, str, int]) -> None:
    model, example, target, _ = judged
    tokens = model.tokens([example])[0]
    asked = method("lime", samples=60, seed=5)
    first, again = model.attributions([example] * 2, [target] * 2, asked)
    assert first == again
    other = model.attributions([example], [target], method("lime", samples=60, seed=6))[0]
    assert other != first
    masks = lime.draws(60, len(attribution.eligible(tokens)), 5)
    column = model.labels_of(example).index(target)
    rows = ExampleRows(example=example, rows=attribution.masked_rows(masks, tokens))
    fitted = lime.coefficients(masks, model.judge_rows([rows])[0][:, column])
    assert np.array(first.values)[attribution.eligible(tokens)] == pytest.approx(fitted, abs=1e-6)
    kept = attribution.masked_rows(masks, tokens)[0]
    assert kept in (Row(), Row(kept=tuple(range(len(tokens.ids)))))


def test_limes_coefficients_minimize_the_weighted_ridge_loss() -> None:
    random = np.random.default_rng(0)
    masks = lime.draws(200, 5, 3)
    seen = masks @ [0.3, -0.2, 0, 0.1, 0] + 0.4 + random.normal(0, 0.01, 200)
    weight = lime.weights(masks)
    root = np.sqrt(weight)[:, None]
    design = np.hstack([masks, np.ones((200, 1))]) * root
    penalty = np.hstack([np.eye(5), np.zeros((5, 1))])  # the intercept is free
    oracle, *_ = np.linalg.lstsq(
        np.vstack([design, penalty]), np.append(seen * root[:, 0], np.zeros(5)), rcond=None
    )
    assert lime.coefficients(masks, seen) == pytest.approx(oracle[:5], abs=1e-10)


def test_what_cannot_be_attributed_is_refused(bert: LocalClassifier) -> None:
    with pytest.raises(BadInput) as caught:
        bert.attributions([Example(text=TEXT)], ["maybe"], method("gradient"))
    assert caught.value.pointer == "/target"
    with pytest.raises(DegenerateInput):
        bert.attributions([Example(text="")], ["yes"], method("lime"))


@pytest.mark.parametrize("shape", ["gpt2", "llama"])
@pytest.mark.parametrize(
    "asked",
    [
        method("attention"),
        method("attention", attention="rollout"),
        method("gradient"),
        method("gradient", gradient="input_x_gradient"),
    ],
    ids=lambda asked: f"{asked.name}-{asked.attention}-{asked.gradient}",
)
def test_examples_together_are_what_they_are_alone(
    shaped: Callable[[str], LocalLanguageModel], shape: str, asked: AttributionMethod
) -> None:
    model = shaped(shape)
    texts = [TEXT, "Rain falls.", TEXT[::-1], "Rain falls.", "A longer text of rain and of sun."]
    examples = [Example(text=text, template=TEMPLATE) for text in texts]
    targets = ["up", "down", "down", "up", "up"]
    together = model.attributions(examples, targets, asked)
    for example, target, found in zip(examples, targets, together, strict=True):
        [alone] = model.attributions([example], [target], asked)
        assert np.array(found.values) == pytest.approx(np.array(alone.values), abs=1e-5)
    assert np.ptp(together[0].values) > 1e-4
    if asked.name == "gradient":
        assert together[1].values != together[3].values  # one text, two targets
