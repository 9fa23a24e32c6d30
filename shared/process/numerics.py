"""Bit-identical matrix products: the settings that processors need for them, and the cases in which
they are guaranteed.

Intel's MKL chooses its algorithm by the shape of a product, so the last bits of a row depend on the
other rows. A strict mode of conditional numerical reproducibility prevents that at the same speed.
Source: Intel oneMKL Developer Guide, "Reproducibility Conditions". Measured on a Xeon with AMX: 11
tests of `tests/inference/test_classifier.py` fail without the mode, none with it. On AMD the
default gives equal bits for products of 16 rows and more. No module imported here may load MKL,
because MKL reads its mode at its first product."""

from __future__ import annotations

import platform
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from shared.contracts.messages import ModelKind, Numerics, Runtime
from shared.process.settings import environment_default, environment_value

Vendor = Literal["intel", "amd", "other"]

MODE = "MKL_CBWR"
CPUINFO = Path("/proc/cpuinfo")
VENDORS: dict[str, Vendor] = {"GenuineIntel": "intel", "AuthenticAMD": "amd"}
# the instruction sets that each of MKL's strict branches is made of, the best one first
BRANCHES = (
    ("AVX512,STRICT", {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}),
    ("AVX2,STRICT", {"avx2", "fma"}),
)

# They choose other kernels than the processor would get: equal in any company, so far as was
# measured, but not to those of a process without them.
OTHER_KERNELS = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")

# Where bytes are not promised: how far probabilities may lie apart, by dtype. Measured:
# tests/inference/test_half_precision.py, tests/gpu.
TOLERANCES = {"float32": 1e-5, "bfloat16": 0.02, "float16": 0.02, "int8": 0.02}
WIDEST = max(TOLERANCES.values())  # of an unknown dtype

# What a limit of oneDNN's leaves of the flags below; a limit that is not here leaves all of them.
# Source: oneDNN, "CPU Dispatcher Control".
LIMITS = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
LEFT = {
    **dict.fromkeys(("SSE41", "AVX", "AVX2", "AVX512_CORE"), frozenset[str]()),
    **dict.fromkeys(("AVX2_VNNI", "AVX2_VNNI_2"), frozenset({"avx_vnni"})),
    "AVX512_CORE_VNNI": frozenset({"avx512_vnni"}),
    **dict.fromkeys(
        ("AVX512_CORE_BF16", "AVX512_CORE_FP16", "AVX10_1_512"),
        frozenset({"avx512_vnni", "avx512_bf16"}),
    ),
}

BFLOAT16 = frozenset({"amx_bf16", "avx512_bf16"})  # flags of processors that multiply it
INT8 = frozenset({"amx_int8", "avx512_vnni", "avx_vnni"})  # and sum it in 32 bits


def ensure_mode() -> None:
    """Set MKL's reproducible mode for this process and its children, unless the user set it."""
    if (mode := mode_for(_cpuinfo())) is not None:
        environment_default(MODE, mode)


def mode_for(cpuinfo: str) -> str | None:
    """Return the mode that MKL needs on this processor, or None if no mode is needed or would help.
    `cpuinfo` is the content of `/proc/cpuinfo` on Linux, and empty on other systems."""
    if vendor_of(cpuinfo) != "intel":
        return None
    flags = set(_field(cpuinfo, "flags").split())
    return next((mode for mode, needed in BRANCHES if needed <= flags), None)


def vendor_of(cpuinfo: str) -> Vendor:
    """Return the processor's vendor, or `other` if it is unknown or not x86-64."""
    return VENDORS.get(_field(cpuinfo, "vendor_id"), "other")


def computes_bfloat16() -> bool:
    """Return True if the processor multiplies bfloat16 matrices in hardware."""
    return bool(BFLOAT16 & _flags())


def computes_int8() -> bool:
    """Return True if the processor multiplies int8 matrices in hardware and accumulates in 32
    bits."""
    return bool(INT8 & _flags())


def kernel_limit() -> str | None:
    """Return the limit set for oneDNN, such as `ONEDNN_MAX_CPU_ISA=AVX2`, or None."""
    limits = ((name, environment_value(name)) for name in LIMITS)
    return next((f"{name}={value}" for name, value in limits if value), None)


class Arithmetic(NamedTuple):
    """A dtype and the reason for it."""

    dtype: Literal["bfloat16", "int8", "float32"]
    reason: str


def fast_arithmetic(kind: ModelKind) -> Arithmetic:
    """Return the dtype that `dtype = "fast"` stands for on this processor, for a model of this
    kind. bfloat16 is preferred to int8, which changes probabilities four to ten times as much
    (`python -m bench.fast_dtype`, bench/RESULTS.md)."""
    limit = f", and {limited_by}" if (limited_by := kernel_limit()) else ""
    if flags := sorted(BFLOAT16 & _flags()):
        return Arithmetic("bfloat16", f"this CPU supports bfloat16 ({flags[0]})")
    if kind != "causal" and (flags := sorted(INT8 & _flags())):
        reason = f"this CPU supports int8 ({flags[0]}), but not bfloat16{limit}"
        return Arithmetic("int8", reason)
    lacks = "bfloat16" if kind == "causal" else "bfloat16 or int8"
    return Arithmetic("float32", f"this CPU does not support {lacks}{limit}")


def promised(
    device: str, dtype: str, *, small_products: bool, runtime: Runtime = "torch"
) -> Numerics:
    """Return "bytes" if other rows never change the bits of a row's result, else "tolerance".

    `device` is torch's name, `cpu` or `cuda:0`. `small_products` is True if some products have
    fewer than 16 rows. MKL's default is then not enough. Only the runtime torch can promise
    bytes.

    Call this when a model is loaded, because MKL uses the mode of its first product."""
    if device != "cpu" or dtype != "float32" or runtime != "torch":
        return "tolerance"
    if any(environment_value(name) is not None for name in OTHER_KERNELS):
        return "tolerance"
    vendor, mode = vendor_of(_cpuinfo()), environment_value(MODE)
    strict = vendor == "intel" and (mode or "").upper() in {branch for branch, _ in BRANCHES}
    usual = vendor == "amd" and mode is None and not small_products
    return "bytes" if strict or usual else "tolerance"


def tolerance(dtype: str) -> float:
    """Return the largest difference between two probabilities of one row that rounding causes,
    where results are not bit-identical."""
    return TOLERANCES.get(dtype, WIDEST)


@lru_cache(maxsize=1)
def _cpuinfo() -> str:
    if platform.machine().lower() not in ("x86_64", "amd64") or not CPUINFO.exists():
        return ""
    return CPUINFO.read_text(encoding="utf-8", errors="replace")


def _flags() -> set[str]:
    """Return the processor's flags that oneDNN, the library that multiplies, may use."""
    flags = set(_field(_cpuinfo(), "flags").split())
    limit = (kernel_limit() or "").partition("=")[2].upper()
    return flags & LEFT[limit] if limit in LEFT else flags


def _field(cpuinfo: str, name: str) -> str:
    """Return the value of this field for the first processor."""
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""
