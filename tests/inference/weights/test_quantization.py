"""An int8 layer: within the error of its rounding, the same in any company, and as integers say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from services.inference.weights.quantization import Int8Linear, quantize


@pytest.fixture(autouse=True, params=["int8 products", "integers in float32"])
def products(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs with the products of both kinds of processors."""
    monkeypatch.setattr(
        "services.inference.weights.quantization.computes_int8",
        lambda: request.param == "int8 products",
    )


@pytest.fixture
def layer() -> nn.Linear:
    torch.manual_seed(0)
    found = nn.Linear(96, 40)
    found.weight.data[:, 3] *= 30  # an outlier column, as encoders have them
    return found


def tokens(count: int = 24) -> torch.Tensor:
    drawn = torch.randn(count, 96, generator=torch.Generator().manual_seed(1))
    return drawn * torch.logspace(-3, 2, count)[:, None]  # tokens of very different sizes


@torch.inference_mode()
def test_the_error_is_that_of_rounding(layer: nn.Linear) -> None:
    inputs = tokens()
    error = (Int8Linear(layer)(inputs) - layer(inputs)).abs()
    step = inputs.abs().amax(1, keepdim=True) / 127  # (N, 1)
    weight = layer.weight.abs()
    steps = weight.amax(1) / 127  # (out,)
    inside = inputs.abs().sum(1, keepdim=True) * steps / 2 + step * weight.sum(1) / 2
    bound = inside + step * steps * inputs.shape[1] / 4
    assert (error <= 1.001 * bound).all()
    assert error.max() > 0  # else nothing was rounded


@torch.inference_mode()
def test_a_token_has_the_same_bytes_in_any_company(layer: nn.Linear) -> None:
    made, inputs = Int8Linear(layer), tokens()
    together = made(inputs)
    assert torch.equal(
        together, torch.cat([made(inputs[place : place + 1]) for place in range(len(inputs))])
    )
    assert torch.equal(together.view(4, 6, -1), made(inputs.view(4, 6, -1)))


@torch.inference_mode()
def test_it_agrees_with_integers_of_numpy(layer: nn.Linear) -> None:
    inputs = tokens()

    def rounded(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scale = np.abs(values).max(axis=1, keepdims=True) / np.float32(127)
        return np.rint(values / scale).astype(np.int64), scale

    left, token_scale = rounded(inputs.numpy())
    right, scale = rounded(layer.weight.numpy())
    oracle = (left @ right.T) * token_scale.astype(float) * scale.T + layer.bias.numpy()
    np.testing.assert_allclose(Int8Linear(layer)(inputs).numpy(), oracle, rtol=1e-5, atol=1e-5)


@torch.inference_mode()
def test_a_token_of_zeros_is_the_bias_and_what_is_no_number_stays_none(layer: nn.Linear) -> None:
    made = Int8Linear(layer)
    assert torch.equal(made(torch.zeros(1, 96))[0], layer.bias)
    damaged = tokens(2)
    damaged[0, 5] = float("nan")
    found = made(damaged)
    assert found[0].isnan().all()
    assert found[1].isfinite().all()


def test_gradients_are_those_of_the_rounded_weights(layer: nn.Linear) -> None:
    made = Int8Linear(layer.requires_grad_(requires_grad=False))
    inputs = tokens().requires_grad_()
    made(inputs).sum().backward()
    column_sums = (made.weight.float() * made.scale).sum(1)
    assert inputs.grad is not None
    torch.testing.assert_close(inputs.grad, column_sums.expand_as(inputs))


@torch.inference_mode()
def test_both_products_give_the_same_bytes(
    layer: nn.Linear, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Int8Linear(layer)
    for has_int8 in (True, False):
        monkeypatch.setattr(
            "services.inference.weights.quantization.computes_int8", lambda has=has_int8: has
        )
        assert torch.equal(Int8Linear(layer)(tokens()), first(tokens()))


def test_pooler_head_and_heirs_of_linear_layers_are_left_alone() -> None:
    class Heir(nn.Linear):
        pass

    inner = nn.Sequential(nn.Linear(4, 4))
    network = nn.ModuleDict({"inner": inner, "pooler": nn.Linear(4, 4), "heir": Heir(4, 4)})
    quantize(network)
    assert isinstance(inner[0], Int8Linear)
    assert type(network["pooler"]) is nn.Linear
    assert type(network["heir"]) is Heir


def test_a_network_without_linear_layers_is_refused() -> None:
    with pytest.raises(ValueError, match="no linear layers"):
        quantize(nn.Sequential(nn.Embedding(3, 3)))
