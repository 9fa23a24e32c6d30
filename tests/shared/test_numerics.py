"""Which mode MKL is given on which processor, and what is promised with it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from shared.process import numerics
from shared.process.numerics import (
    LEFT,
    LIMITS,
    OTHER_KERNELS,
    fast_arithmetic,
    kernel_limit,
    mode_for,
    promised,
)
from shared.process.settings import environment_value

AVX2 = "fpu sse4_2 avx avx2 fma"
AVX512 = f"{AVX2} avx512f avx512dq avx512cd avx512bw avx512vl amx_bf16"


def cpuinfo(vendor: str, flags: str) -> str:
    """As Linux writes it, for two processors."""
    one = f"vendor_id\t: {vendor}\nmodel name\t: any\nflags\t\t: {flags}\n"
    return f"processor\t: 0\n{one}\nprocessor\t: 1\n{one}"


@pytest.mark.parametrize(
    ("vendor", "flags", "mode"),
    [
        ("GenuineIntel", AVX512, "AVX512,STRICT"),
        ("GenuineIntel", AVX2, "AVX2,STRICT"),
        ("GenuineIntel", "fpu sse4_2 avx", None),  # no strict branch
        ("AuthenticAMD", AVX512, None),
        ("AuthenticAMD", AVX2, None),
        ("HygonGenuine", AVX2, None),
    ],
)
def test_the_mode_by_processor(vendor: str, flags: str, mode: str | None) -> None:
    assert mode_for(cpuinfo(vendor, flags)) == mode


def test_what_is_no_linux_on_x86_64_is_left_alone() -> None:
    assert mode_for("") is None
    assert mode_for("processor\t: 0\nCPU implementer\t: 0x41\nFeatures\t: asimd\n") is None


@pytest.mark.parametrize("own", [None, "COMPATIBLE"])
def test_the_users_own_choice_stays(own: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numerics, "_cpuinfo", lambda: cpuinfo("GenuineIntel", AVX512))
    monkeypatch.delenv("MKL_CBWR", raising=False)
    if own:
        monkeypatch.setenv("MKL_CBWR", own)
    numerics.ensure_mode()
    assert environment_value("MKL_CBWR") == (own or "AVX512,STRICT")


@pytest.mark.parametrize(
    ("vendor", "mode", "classifier", "other"),
    [
        ("GenuineIntel", "AVX512,STRICT", "bytes", "bytes"),
        ("GenuineIntel", "avx2,strict", "bytes", "bytes"),
        ("GenuineIntel", "COMPATIBLE", "tolerance", "tolerance"),
        ("GenuineIntel", "COMPATIBLE,STRICT", "tolerance", "tolerance"),
        ("GenuineIntel", None, "tolerance", "tolerance"),
        ("AuthenticAMD", None, "bytes", "tolerance"),
        ("AuthenticAMD", "COMPATIBLE", "tolerance", "tolerance"),
        ("HygonGenuine", None, "tolerance", "tolerance"),
    ],
)
def test_bytes_are_promised_in_float32_with_the_mode_in_force(
    vendor: str,
    mode: str | None,
    classifier: str,
    other: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(numerics, "_cpuinfo", lambda: cpuinfo(vendor, AVX2))
    for name in ("MKL_CBWR", *OTHER_KERNELS):
        monkeypatch.delenv(name, raising=False)
    if mode:
        monkeypatch.setenv("MKL_CBWR", mode)
    assert promised("cpu", "float32", small_products=False) == classifier
    assert promised("cpu", "float32", small_products=True) == other
    for device, dtype in (("cpu", "bfloat16"), ("cpu", "float16"), ("cuda:0", "float32")):
        assert promised(device, dtype, small_products=False) == "tolerance"
    for name in OTHER_KERNELS:
        with monkeypatch.context() as chosen:
            chosen.setenv(name, "default")
            assert promised("cpu", "float32", small_products=False) == "tolerance"


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize(
    ("limit", "dtype"),
    [
        ("SSE41", "float32"),
        ("AVX2", "float32"),
        ("avx512_core", "float32"),
        ("AVX512_CORE_VNNI", "int8"),
        ("AVX512_CORE_BF16", "bfloat16"),
        ("AVX512_CORE_AMX", "bfloat16"),
        ("DEFAULT", "bfloat16"),
    ],
)
def test_what_a_limit_of_onednn_takes_away_is_not_fast(
    name: str, limit: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = f"{AVX512} avx512_bf16 avx512_vnni"
    monkeypatch.setattr(numerics, "_cpuinfo", lambda: cpuinfo("AuthenticAMD", flags))
    assert fast_arithmetic("classifier").dtype == "bfloat16"
    monkeypatch.setenv(name, limit)
    assert fast_arithmetic("classifier").dtype == dtype
    assert kernel_limit() == f"{name}={limit}"


def test_a_higher_limit_leaves_no_less() -> None:
    avx512 = [name for name in LEFT if name.startswith("AVX512")]
    assert all(LEFT[one] <= LEFT[other] for one, other in pairwise(avx512))
