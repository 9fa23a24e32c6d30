"""28 cases of alignment, string similarity and set matching, exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from services.cot2el import kernel

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "el_cases.json"

pytestmark = pytest.mark.skipif(not GOLDEN.exists(), reason="no golden numbers on this machine")


def cases(kind: str) -> list[Any]:
    if not GOLDEN.exists():
        return []
    found = json.loads(GOLDEN.read_text("utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in found if case["kind"] == kind]


@pytest.mark.parametrize("case", cases("alignment"))
def test_alignment(case: dict[str, Any]) -> None:
    expected, units = case["expected"], case["units"]
    same = [kernel.ratio(case["explanation"], unit) for unit in units] == expected["ratios"]
    assert same
    (found,) = kernel.align([case["explanation"]], units)
    assert found == kernel.Alignment(expected["best_index"], expected["best_ratio"])
    assert (found.similarity > case["threshold"]) is expected["kept_at_0_6"]


@pytest.mark.parametrize("case", cases("string_similarity"))
def test_string_similarity(case: dict[str, Any]) -> None:
    words = case["a"].lower().split(), case["b"].lower().split()
    found = {"levenshtein_ratio": kernel.levenshtein(case["a"], case["b"])}
    found |= {f"lexical_jaccard_{n}": kernel.jaccard(*words, n) or 0.0 for n in (1, 2, 3)}
    assert found == pytest.approx(case["expected"], abs=1e-15)


@pytest.mark.parametrize("case", cases("s_instance"))
def test_instance_score(case: dict[str, Any]) -> None:
    def texts(side: str, label: str, stance: str) -> list[str]:
        return list(case[side].get(label, {}).get(stance, []))

    per_set = {}
    for label in case["labels"]:
        for stance in case["stances"]:
            ours, humans = (texts(side, label, stance) for side in ("el", "el_human"))
            table = [[kernel.levenshtein(e, h) for h in humans] for e in ours]
            matrix = np.array(table, dtype=np.float64).reshape(len(ours), len(humans))
            per_set[f"{label}/{stance}"] = kernel.set_score(matrix)
    expected = case["expected"]
    assert per_set == pytest.approx(expected["per_set"], abs=1e-15)
    found = kernel.instance_score(list(per_set.values()))
    assert found == pytest.approx(expected["s_instance"], abs=1e-15)
