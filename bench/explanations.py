"""`python -m bench.explanations [folder]`: does HateXScore tell real explanations from shuffled?

Explanations that language models wrote for posts they found toxic (`haf_explanations.jsonl`), each
scored for its own post and for another one's; and human rationales (`hatexplain.jsonl`) made into
explanations. A score that follows the asked model instead of the explanation shows in
corr(P, QF) and corr(P, relative_drop). The last line is JSON; no text is printed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from services.bindings import local
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from shared.models.catalogue import load_catalogue
from shared.models.ports import bind

DATA = Path("../shared/data")
FILE = "haf_explanations.jsonl"
DECISIONS = ("toxic", "non-toxic")  # a third one, "maybe", decides nothing
ROTATIONS = (1, 7, 23)  # how far explanations are moved on to another post


@dataclass(frozen=True)
class Explained:
    """A post, the decision about it, and what a language model said of it."""

    text: str
    explanation: str
    decision: str

    def request(self, explanation: str | None = None) -> HatexscoreRequest:
        return HatexscoreRequest(
            text=self.text,
            explanation=self.explanation if explanation is None else explanation,
            predicted_label=self.decision,
            control_draws=0,
        )


def explained(folder: Path = DATA) -> list[Explained]:
    rows = map(json.loads, (folder / FILE).read_text("utf-8").splitlines())
    return [
        Explained(row["text"], row["raw_output"], row["decision"])
        for row in rows
        if row["decision"] in DECISIONS
    ]


def area(real: Sequence[float], other: Sequence[float]) -> float:
    """P(a real one scores higher), ties half: 0.5 is chance."""
    return float(mannwhitneyu(real, other).statistic) / (len(real) * len(other))


def scores(reports: Iterable[HatexscoreResult]) -> list[float]:
    return [one.score for one in reports if one.score is not None]


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's r; None for fewer than three pairs, or where one side is constant."""
    columns = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    if len(pairs) < 3 or not columns.std(axis=1).all():
        return None
    return float(np.corrcoef(columns)[0, 1])


def of_p(reports: Iterable[HatexscoreResult], field: str) -> list[tuple[float, float]]:
    """(P(hateful), QF or relative drop) where both are defined."""
    found = []
    for one in reports:
        value = one.components.qf if field == "qf" else one.relative_drop
        if one.probability_original is not None and value is not None and one.components.qf:
            found.append((one.probability_original, value))
    return found


def measure(folder: Path = DATA) -> dict[str, Any]:
    """Under the models that are bound."""
    rows = explained(folder)
    hateful = [one for one in rows if one.decision == DECISIONS[0]]
    real = SERVICE.score_batch([one.request() for one in rows])
    of_hateful = [one for one in real if one.predicted_label == "hateful"]
    shuffled = SERVICE.score_batch(
        [
            one.request(hateful[(place + moved) % len(hateful)].explanation)
            for moved in ROTATIONS
            for place, one in enumerate(hateful)
        ]
    )
    own, others = scores(of_hateful), scores(shuffled)
    return {
        "explanations": len(rows),
        "read": sum(one.stated_label is not None for one in real),
        "read_right": sum(one.label_match is True for one in real),
        "without_a_score": sum(one.score is None for one in real),
        "why": Counter(code for one in real for code in one.undefined.values()),
        "with_a_score": {"real": len(own), "shuffled": len(others)},
        "mean_score": {"real": float(np.mean(own)), "shuffled": float(np.mean(others))},
        "area_real_against_shuffled": area(own, others),
        "corr_p_qf": correlation(of_p(of_hateful, "qf")),
        "corr_p_relative_drop": correlation(of_p(of_hateful, "relative_drop")),
        "qf_of": len(of_p(of_hateful, "qf")),
        "hallucinated": sum(len(one.hallucinated_quotes) for one in real),
        "located": sum(item.kind == "quote" for one in real for item in one.evidence),
    }


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    bind(local(load_catalogue(Path("models.toml"))))
    print(json.dumps(measure(folder)))


if __name__ == "__main__":
    main()
