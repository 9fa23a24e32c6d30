"""Runs an encoder with OpenVINO instead of torch, which is faster on CPUs but has no gradients.

The network is traced once and compiled for this processor. Its outputs are compared with torch on
texts of other lengths, since a trace fixes every decision that depends on its first input. Source:
OpenVINO 2026, PyTorch frontend; `python -m bench.encoder_runtimes`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import torch
from torch import nn

from services.inference.weights.limits import max_length_ids
from shared.process.numerics import kernel_limit

INSTALL = "pip install 'path/to/touchstone[openvino]'"
PRECISION = {"float32": "f32", "bfloat16": "bf16"}
APART = {"float32": 1e-3, "bfloat16": 0.1}  # of torch's float32 numbers: rounding
CAUSE = "Exception:"  # before the reason in what the frontend says of a trace
TRACED = (2, 8)  # rows, tokens; other than one, which a trace would keep
COMPARED = ((1, 6), (3, 16), (2, 48), (1, 512))  # or as long as it reads
FIRST, SECOND = "input_ids", "attention_mask"
SEGMENTS = "token_type_ids"


class Unsupported(ValueError):
    """OpenVINO cannot compute this network."""


class OpenVinoNetwork(nn.Module):
    """The network as a function of ids, mask and segments, without parameters. It is not
    thread-safe. The result has the network's output type with one float32 tensor `output`, of shape
    (N, K) for a head or (N, T, d) for an encoder."""

    def __init__(self, network: nn.Module, output: str, dtype: str) -> None:
        """Convert the network. Raises Unsupported if this fails or OpenVINO is not installed."""
        super().__init__()
        self.config = network.config
        self.dtype, self.device = torch.float32, torch.device("cpu")
        self._output = output
        self._inputs = _inputs(network)
        self._compiled = _compiled(
            _Tensors(network, self._inputs, output), len(self._inputs), dtype
        )

    @torch.inference_mode()
    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **more: Any
    ) -> Any:
        """Compute the network's outputs. A missing attention mask is replaced by ones, and missing
        token type ids by zeros."""
        tensors = {FIRST: input_ids, SECOND: attention_mask, SEGMENTS: more.get(SEGMENTS)}
        inputs = [_filled(tensors[name], name, input_ids) for name in self._inputs]
        [answer] = self._compiled(inputs).values()
        return _Output({self._output: torch.from_numpy(answer.copy())})


class _Output(dict[str, torch.Tensor]):
    """A model output with one tensor, which can be read by name, key or index, as in
    transformers."""

    def __getattr__(self, name: str) -> torch.Tensor:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, key: str | int) -> torch.Tensor:
        return super().__getitem__(key) if isinstance(key, str) else (*self.values(),)[key]


class _Tensors(nn.Module):
    """A wrapper that calls the network with tensors instead of named inputs, as tracing
    requires."""

    def __init__(self, network: nn.Module, inputs: Sequence[str], output: str) -> None:
        super().__init__()
        self._network, self._inputs, self._output = network, inputs, output

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        by_name = dict(zip(self._inputs, tensors, strict=True))
        answer: torch.Tensor = self._network(**by_name)[self._output]
        return answer


_conversion = Lock()  # tracing and the library's own patches of torch are of the whole process


@torch.inference_mode()
def converted(
    network: nn.Module, tokenizer: Any, longest: int, *, output: str, dtype: str
) -> OpenVinoNetwork:
    """Return the network in OpenVINO. `tokenizer` and `longest` are used to compare it with torch.
    Raises Unsupported if conversion fails or outputs differ."""
    with _conversion:
        compiled = OpenVinoNetwork(network, output, dtype)
    for rows, width in COMPARED:
        batch = _texts(tokenizer, rows, min(width, longest), compiled._inputs)  # noqa: SLF001
        expected, actual = (_answer(model, batch, output) for model in (network, compiled))
        if not _agree(expected, actual, batch[SECOND].bool(), APART[dtype]):
            raise Unsupported(
                "runtime openvino gives other results than torch; leave `runtime` out of its entry"
                + _limited()
            )
    return compiled


def _agree(expected: torch.Tensor, actual: torch.Tensor, mask: torch.Tensor, far: float) -> bool:
    """Return True if the outputs differ by at most the relative tolerance `far`. For token states
    only tokens in the (N, T) mask are compared."""
    if actual.shape != expected.shape:
        return False
    apart = (expected - actual).abs()
    differences = apart[mask] if expected.dim() > mask.dim() else apart
    return bool(differences.max() <= far * (1 + expected.abs().max()))


def _answer(network: nn.Module, batch: Mapping[str, Any], output: str) -> torch.Tensor:
    try:
        answer: torch.Tensor = network(**batch)[output]
    except (RuntimeError, IndexError) as error:
        raise Unsupported(_refusal(error)) from error
    return answer


def _refusal(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    positions = [index for index, line in enumerate(lines) if line == CAUSE]  # then what was raised
    reason = lines[positions[0] + 1] if positions and positions[0] + 1 < len(lines) else lines[-1]
    return f"runtime openvino cannot compute this network: {reason[:300]}{_limited()}"


def _limited() -> str:
    """Return a hint if a setting of oneDNN disables instructions that OpenVINO needs."""
    limit = kernel_limit()
    return (
        (f" ({limit} restricts the instructions that it may use; unset {limit}, or use dtype fast)")
        if limit
        else ""
    )


def _inputs(network: nn.Module) -> tuple[str, ...]:
    parameters = inspect.signature(network.forward).parameters
    has_segments = SEGMENTS in parameters and getattr(network.config, "type_vocab_size", 0) > 1
    return (FIRST, SECOND, SEGMENTS) if has_segments else (FIRST, SECOND)


def _filled(tensor: torch.Tensor | None, name: str, ids: torch.Tensor) -> Any:
    if tensor is None:
        tensor = torch.ones_like(ids) if name == SECOND else torch.zeros_like(ids)
    return tensor.numpy()


def _texts(tokenizer: Any, rows: int, width: int, inputs: Sequence[str]) -> Mapping[str, Any]:
    """Return artificial token ids for testing the compiled network: rows of different lengths,
    padded if the tokenizer has a padding token."""
    padding = tokenizer.pad_token_id
    ids = [
        max_length_ids(tokenizer, width if padding is None else width - row) for row in range(rows)
    ]
    batch = {
        FIRST: torch.tensor(
            [[*row_ids, *[padding or 0] * (width - len(row_ids))] for row_ids in ids]
        ),
        SECOND: torch.tensor(
            [[*[1] * len(row_ids), *[0] * (width - len(row_ids))] for row_ids in ids]
        ),
    }
    if SEGMENTS in inputs:
        batch[SEGMENTS] = torch.arange(width).ge(width // 2).long().expand(rows, width)
    return batch


@torch.inference_mode()
def _compiled(network: _Tensors, inputs: int, dtype: str) -> Any:
    """Compile the network for this processor, with as many threads as torch uses."""
    try:
        import openvino
        from openvino.frontend import FrontEndManager, OpConversionFailure
        from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder
    except ImportError as error:
        raise Unsupported(f"runtime openvino is not installed: {INSTALL}") from error
    traced = (torch.ones(TRACED, dtype=torch.long),) * inputs
    settings = {
        "INFERENCE_PRECISION_HINT": PRECISION[dtype],
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "NUM_STREAMS": 1,
    }
    try:
        with warnings.catch_warnings():  # torch would rather export; the frontend reads traces
            warnings.simplefilter("ignore")
            decoder = TorchScriptPythonDecoder(network.eval(), example_input=traced)
            frontend = FrontEndManager().load_by_framework("pytorch")
            model = frontend.convert(frontend.load(decoder))
        model.reshape({index: [-1, -1] for index in range(inputs)})
        return openvino.Core().compile_model(model, "CPU", settings)
    except (RuntimeError, IndexError, OpConversionFailure) as error:
        raise Unsupported(_refusal(error)) from error
