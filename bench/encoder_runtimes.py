"""`python -m bench.encoder_runtimes`: compares other runtimes with torch for encoders.

Runs `embedded-hate` with torch, ONNX Runtime (through torch's exporter) and OpenVINO, in float32
and in cheaper dtypes, if these packages are installed (`pip install onnx onnxscript onnxruntime
openvino`). Each uses one thread, in turn. Ratios are torch's processor time in float32 divided by
theirs, medians over rounds. `change` is the largest difference of P from torch in float32. The last
line is JSON.
"""

from __future__ import annotations

import copy
import importlib
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from bench.environment import environment
from services.inference.local_models import LocalModels
from services.inference.weights.quantization import quantize
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.numerics import computes_bfloat16, computes_int8

SHAPES = ((1, 16), (22, 16), (64, 16), (32, 64))  # rows, tokens
ROUNDS = 7
INPUTS = ("input_ids", "attention_mask")

Way = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # ids and mask to logits


class Logits(torch.nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
        return self.model(input_ids=input_ids, attention_mask=attention_mask).logits


def main() -> None:
    torch.set_num_threads(1)
    model = LocalModels(load_catalogue(Path("models.toml"))).local_classifier("embedded-hate")
    network = model._weights.model  # noqa: SLF001 - the network, asked directly
    with tempfile.TemporaryDirectory() as folder:
        ways = torch_ways(network) | exported_ways(network, Path(folder) / "model.onnx")
        figures = {f"{rows}x{width}": compared(ways, rows, width) for rows, width in SHAPES}
    about = environment(torch=torch.__version__, torch_threads=1, rounds=ROUNDS)
    print(json.dumps({"bench": "encoder_runtimes", "figures": figures, "environment": about}))


def torch_ways(network: Any) -> dict[str, Way]:
    ways: dict[str, Way] = {"torch float32": Logits(network)}
    if computes_bfloat16():
        ways["torch bfloat16"] = Logits(copy.deepcopy(network).to(torch.bfloat16))
    if computes_int8():
        rough = copy.deepcopy(network)
        quantize(rough.base_model)
        ways["int8"] = Logits(rough)
    return ways


def exported_ways(network: Any, file: Path) -> dict[str, Way]:
    """Return the ways to run the model with the installed runtimes. The result is empty without the
    exporter."""
    try:
        runtime: Any = importlib.import_module("onnxruntime")
        openvino: Any = importlib.import_module("openvino")
        _export(network, file)
    except ImportError:
        return {}
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])

    def onnx(*tensors: torch.Tensor) -> torch.Tensor:
        given = dict(zip(INPUTS, (one.numpy() for one in tensors), strict=True))
        return torch.tensor(session.run(None, given)[0])

    def compiled(hint: str) -> Way:
        chosen = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": hint}
        made = openvino.Core().compile_model(file, "CPU", chosen)
        return lambda *tensors: torch.tensor(made([one.numpy() for one in tensors])[0])

    cheaper = {"openvino bfloat16": compiled("bf16")} if computes_bfloat16() else {}
    return {"onnxruntime float32": onnx, "openvino float32": compiled("f32"), **cheaper}


def _export(network: Any, file: Path) -> None:
    ids, mask = _inputs(3, 17)
    sizes = {0: torch.export.Dim("rows"), 1: torch.export.Dim("tokens", max=512)}
    torch.onnx.export(
        Logits(network),
        (ids, mask),
        file,
        dynamo=True,
        dynamic_shapes=(sizes, sizes),
        input_names=INPUTS,
        output_names=["logits"],
        external_data=False,
    )


def compared(ways: dict[str, Way], rows: int, width: int) -> dict[str, dict[str, float]]:
    """Return for each way its ratio and its largest change of P."""
    ids, mask = _inputs(rows, width)
    taken: dict[str, list[float]] = {name: [] for name in ways}
    answers: dict[str, torch.Tensor] = {}
    for _ in range(ROUNDS + 1):
        for name, way in ways.items():
            began = time.process_time()
            with torch.inference_mode():
                logits = way(ids, mask)
            taken[name].append(time.process_time() - began)
            answers[name] = logits.float().softmax(1)
    median = {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}
    exact, first = answers["torch float32"], median["torch float32"]
    return {
        name: {
            "ratio": round(first / median[name], 2),
            "change": round(float((answers[name] - exact).abs().max()), 6),
        }
        for name in ways
    }


def _inputs(rows: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return random token ids. The last three of the first row are padding."""
    ids = torch.randint(1_000, 20_000, (rows, width), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[0, -3:] = 0
    return ids, mask


if __name__ == "__main__":
    main()
