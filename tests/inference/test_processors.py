"""One law on every processor: a row has the same bits alone and in any company.

This processor plays others in subprocesses, each with kernels for other instruction sets: oneDNN's
(`ONEDNN_MAX_CPU_ISA`), MKL's (`MKL_CBWR`) and ATen's own (`ATEN_CPU_CAPABILITY`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shared.process.numerics import CPUINFO, MODE, TOLERANCES, vendor_of

ROOT = Path(__file__).parents[2]
PROCESSORS: dict[str, dict[str, str]] = {
    "as it is": {},
    "mkl-avx2": {MODE: "AVX2,STRICT"},
    "onednn-avx2": {"ONEDNN_MAX_CPU_ISA": "AVX2"},
    "aten-default": {"ATEN_CPU_CAPABILITY": "default"},
    "all-avx2": {
        MODE: "AVX2,STRICT",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
    },
}
THREADS = "OMP_NUM_THREADS"  # one in a run of all tests
# here there are several, beside other tests: who waits for another does not keep it from its core
PATIENT = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}
AT_NIGHT = ("mkl-avx2", "onednn-avx2", "aten-default")  # each alone; by day all at once
on_intel = pytest.mark.skipif(
    not CPUINFO.exists() or vendor_of(CPUINFO.read_text()) != "intel",
    reason="MKL obeys its modes on Intel's processors only",
)


def company(environment: dict[str, str], dtype: str = "float32") -> dict[str, Any]:
    """Of the classifier and the similarity: what is promised, and how far a row moves, with as
    many threads as there are cores."""
    usual = {name: one for name, one in os.environ.items() if name not in (MODE, THREADS)}
    command = [sys.executable, "-m", "tests.inference.company", dtype]
    ran = subprocess.run(
        command, cwd=ROOT, env=usual | PATIENT | environment, stdout=subprocess.PIPE, check=True
    )
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    "processor",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if name in AT_NIGHT else [])
        for name in PROCESSORS
    ],
)
def test_a_row_keeps_what_is_promised_of_it(processor: str) -> None:
    intel = CPUINFO.exists() and vendor_of(CPUINFO.read_text()) == "intel"
    if MODE in PROCESSORS[processor] and not intel:
        pytest.skip("MKL obeys its modes on Intel's processors only")
    if not PROCESSORS[processor] and intel:
        pytest.skip("the next test asks it, and more strictly")
    found = company(PROCESSORS[processor])
    for service in ("classifier", "similarity"):
        most = 0.0 if found[service]["numerics"] == "bytes" else TOLERANCES["float32"]
        assert found[service]["apart"] <= most, (service, found)


@pytest.mark.nightly  # by day `test_half_precision.py` asks a classifier in bfloat16
def test_in_bfloat16_a_row_keeps_its_tolerance() -> None:
    found = company({}, "bfloat16")
    for service in ("classifier", "similarity"):
        assert found[service]["numerics"] == "tolerance"
        assert found[service]["apart"] <= TOLERANCES["bfloat16"], (service, found)


@on_intel
def test_on_intel_the_mode_is_chosen_that_holds_the_bits() -> None:
    chosen = company({})
    assert chosen["mode"].endswith(",STRICT")
    assert [chosen[service] for service in ("classifier", "similarity")] == [
        {"numerics": "bytes", "apart": 0.0}
    ] * 2


@on_intel
@pytest.mark.nightly  # whether other modes move a bit depends on the processor
def test_on_intel_it_is_the_mode_that_holds_the_bits() -> None:
    weaker = company({MODE: "AUTO"})
    assert weaker["mode"] == "AUTO"  # the user's own choice
    assert max(weaker[service]["apart"] for service in ("classifier", "similarity")) > 0
    assert {weaker[service]["numerics"] for service in ("classifier", "similarity")} == {
        "tolerance"
    }


@on_intel
@pytest.mark.parametrize(
    "module",
    [
        "services.worker",
        "cli.stack.__main__",
        pytest.param("cli.models.check", marks=pytest.mark.nightly),
        pytest.param("bench.inference", marks=pytest.mark.nightly),
    ],
)
def test_every_process_that_computes_has_its_mode_before_mkl_is_asked(module: str) -> None:
    program = (
        "import sys\n"
        "class Watch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'services.inference.weights.loader':\n"
        "            import os; assert os.environ.get('MKL_CBWR', '').endswith(',STRICT')\n"
        "sys.meta_path.insert(0, Watch())\n"
        f"import {module}\n"
        "import os; print(os.environ['MKL_CBWR'])\n"
    )
    usual = {name: value for name, value in os.environ.items() if name != MODE}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=usual, capture_output=True, check=True
    )
    assert ran.stdout.strip().endswith(b",STRICT")
