"""Placement of a model's weights: device, dtype and memory.

A model waits until there is memory; nothing is stopped to make room. The need is estimated as
parameters x bytes of a number x 1.2 + one pass of the longest text. Free memory is that of the
device, or of the machine and its container.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from pathlib import Path
from threading import Lock

import torch
from safetensors import SafetensorError, safe_open

from shared.models.catalogue.availability import LoadingError
from shared.models.catalogue.entry import ModelEntry
from shared.process.numerics import computes_bfloat16, fast_arithmetic
from shared.process.settings import settings

AMPERE = (8, 0)  # CUDA compute capability from which bfloat16 is computed in hardware
GAINING = ("classifier", "similarity")  # bfloat16 changed one verdict of 600: bench/RESULTS.md
LARGE = 1_000_000_000  # parameters from which a causal model is worth bfloat16 on a processor


def device_of(entry: ModelEntry) -> torch.device:
    """Return the device. Raises ValueError for a configured GPU that does not exist."""
    if entry.runtime == "openvino":
        return torch.device("cpu")
    if entry.device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if entry.device != "cpu" and not torch.cuda.is_available():
        raise ValueError(
            f"the model is configured for {entry.device}, but this machine has no GPU; "
            "change `device`"
        )
    return torch.device(entry.device)


def dtype_of(entry: ModelEntry, device: torch.device, folder: Path) -> str:
    """Return the dtype of a model's weights. `auto` is bfloat16 on GPUs from Ampere on. It is also
    bfloat16 on processors that support it, unless `TOUCHSTONE_DTYPE` is float32: for classifiers,
    bi-encoders and large causal models. `fast` is as in `fast_arithmetic` on a processor, and as
    `auto` on a GPU. Raises ValueError for int8 on a GPU."""
    if entry.dtype == "int8" and device.type != "cpu":
        raise ValueError('dtype int8 is not available on a GPU; use "fast" or "auto" instead')
    if entry.dtype == "fast" and device.type == "cpu":
        dtype = fast_arithmetic(entry.kind).dtype
        return "float32" if entry.runtime == "openvino" and dtype == "int8" else dtype
    if entry.dtype not in ("auto", "fast"):
        return entry.dtype
    if device.type == "cuda":
        is_new = torch.cuda.get_device_capability(device) >= AMPERE
        return "bfloat16" if is_new else "float32"
    gains = entry.kind in GAINING or (entry.kind == "causal" and parameters(folder) > LARGE)
    wanted = settings().dtype == "auto" and gains
    return "bfloat16" if wanted and computes_bfloat16() else "float32"


def torch_dtype(dtype: str) -> torch.dtype:
    """Return the dtype of everything except quantised matrices. It is float32 for an int8 model."""
    result: torch.dtype = getattr(torch, "float32" if dtype == "int8" else dtype)
    return result


def parameters(folder: Path) -> int:
    """Return the number of parameters in the safetensors files of a folder, from their headers.
    Raises OSError, and ValueError for a file that is not safetensors."""
    total = 0
    for file in folder.glob("*.safetensors"):
        try:
            with safe_open(file, framework="pt") as weights:
                shapes = [weights.get_slice(name).get_shape() for name in weights.keys()]  # noqa: SIM118 - it is no mapping
        except SafetensorError as error:
            raise ValueError(
                f"{file.name} in {folder} is not a safetensors file: {error}"
            ) from error
        total += sum(map(prod, shapes))
    return total


BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 4}  # int8: read as float32 first
OVERHEAD = 1.2
MOST_SHARE = 0.9  # of what is free
MEMORY = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
PASS_TOKENS = 512  # of the pass that proves a model
NUMBERS_A_TOKEN = 60  # alive at once in a pass, for each layer's width: measured generously


@dataclass(frozen=True)
class MemoryEstimate:
    """Sizes in bytes. `size` is that of the files, `memory` that of the loaded model and one
    pass."""

    size: int
    memory: int


def estimate_memory(folder: Path, dtype: str, parameters: int) -> MemoryEstimate:
    size = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    number = BYTES[dtype]
    proof = PASS_TOKENS * NUMBERS_A_TOKEN * _hidden_size(folder) * number
    return MemoryEstimate(size, int(parameters * number * OVERHEAD) + proof)


def _hidden_size(folder: Path) -> int:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        return int(config.get("hidden_size") or config.get("d_model") or 1_024)
    except (OSError, ValueError, AttributeError, TypeError):
        return 1_024


def check_memory(name: str, needed: int, device: str) -> None:
    """Reserve memory. Raises LoadingError, with the state `waiting`, if more than 90 % of the free
    memory would be used."""
    with _lock:
        promised = sum(size for other, size in _loading.items() if other[1] == device)
        free = free_bytes(device)
        fits = free is None or needed <= MOST_SHARE * (free - promised)
        if fits:
            _loading[name, device] = needed
    if not fits and free is not None:
        where = "this machine" if device == "cpu" else device
        raise LoadingError(
            f"the model {name!r} needs {needed / 1e9:.1f} GB, but {where} has only "
            f"{max(0, free - promised) / 1e9:.1f} GB free; the model waits for memory",
            "waiting",
        )


def loaded(name: str) -> None:
    """Release the reserved memory once the model is loaded or loading has failed."""
    with _lock:
        for key in [key for key in _loading if key[0] == name]:
            del _loading[key]


_loading: dict[tuple[str, str], int] = {}  # (model, device) → bytes, of those on their way
_lock = Lock()


def free_bytes(device: str) -> int | None:
    """Return the free bytes on the device. For `cpu`, return the smaller value of the machine's and
    the container's free memory. Return None if it is unknown."""
    if device != "cpu":
        import torch  # only where a device other than a processor is asked for

        torch.cuda.empty_cache()  # what models that were let go of have left
        return int(torch.cuda.mem_get_info(torch.device(device))[0])
    sizes = [size for size in (_machine(), _container()) if size is not None]
    return min(sizes, default=None)


def _machine() -> int | None:
    try:
        lines = MEMORY.read_text("ascii").splitlines()
    except OSError:
        return None
    kib = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), None)
    return None if kib is None else int(kib) * 1_024


def _container() -> int | None:
    """Return the free memory of the control group, version 2 or 1. Reclaimable memory counts as
    free."""
    for limit, used, statistics in (
        ("memory.max", "memory.current", "memory.stat"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
    ):
        try:
            most = (CGROUP / limit).read_text("ascii").strip()
            now = int((CGROUP / used).read_text("ascii"))
            lines = (CGROUP / statistics).read_text("ascii").splitlines()
        except (OSError, ValueError):
            continue
        if not most.isdecimal():  # max
            return None
        cache = sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
        return max(0, int(most) - now + cache)
    return None
