"""`python -m bench.explanations [folder]`: tests whether HateXScore separates real explanations
from those of other posts.

Scores explanations that language models wrote for posts they found toxic
(`haf_explanations.jsonl`), each with its own post and with another post. Also scores explanations
made from human rationales (`hatexplain.jsonl`). If corr(P, QF) is high, the score follows the judge
instead of the explanation. `--changes` reports how version 2.0 changed QF and the control's
verdict. The last line is JSON. No text is printed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from services.hatexscore.contract import HatexscoreOptions, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from services.hatexscore.verdict import MATTER, checks, quotes
from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import bind
from shared.statistics.agreement import auc_of_groups

DATA = Path("../shared/data")
FILE = "haf_explanations.jsonl"
DECISIONS = ("toxic", "non-toxic")  # a third one, "maybe", decides nothing
ROTATIONS = (1, 7, 23)  # how far explanations are moved on to another post


RATIONALES = "hatexplain.jsonl"
MOST_POSTS = 160  # with one target group and a rationale
GROUPS = {
    "African": "Black people",
    "Islam": "Muslims",
    "Jewish": "Jews",
    "Homosexual": "gay people",
    "Women": "women",
    "Refugee": "refugees",
    "Arab": "Arabs",
    "Caucasian": "white people",
    "Hispanic": "Hispanic people",
    "Asian": "Asian people",
}


@dataclass(frozen=True)
class Explained:
    """A post, the decision about it, and a language model's explanation."""

    text: str
    explanation: str
    decision: str

    def request(self, explanation: str | None = None) -> HatexscoreRequest:
        return HatexscoreRequest(
            text=self.text,
            explanation=self.explanation if explanation is None else explanation,
            decision=self.decision,
            options=HatexscoreOptions(control_draws=0),
        )


def explained(folder: Path = DATA) -> list[Explained]:
    rows = map(json.loads, (folder / FILE).read_text("utf-8").splitlines())
    return [
        Explained(row["text"], row["raw_output"], row["decision"])
        for row in rows
        if row["decision"] in DECISIONS
    ]


def scores(reports: Iterable[HatexscoreResult]) -> list[float]:
    return [one.score for one in reports if one.score is not None]


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return Pearson's r; None for fewer than three pairs, or if one side is constant."""
    columns = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    if len(pairs) < 3 or not columns.std(axis=1).all():
        return None
    matrix: npt.NDArray[np.float64] = np.asarray(np.corrcoef(columns))
    return float(matrix[0, 1])


def of_p(reports: Iterable[HatexscoreResult]) -> list[tuple[float, float]]:
    found = []
    for one in reports:
        value = one.components.qf
        if one.probability_original is not None and value is not None and one.model_agrees:
            found.append((one.probability_original, value))
    return found


def rationales(folder: Path = DATA) -> list[Explained]:
    """Return hateful posts of one target group with people's marks as explanations."""
    rows = map(json.loads, (folder / RATIONALES).read_text("utf-8").splitlines())
    found = [
        Explained(row["text"], _explanation(runs, GROUPS[row["target_groups"][0]]), "hateful")
        for row in rows
        if row["label"] == "hatespeech" and len(row["target_groups"]) == 1
        if row["target_groups"][0] in GROUPS and (runs := marked_runs(row))
    ]
    return found[:: max(1, len(found) // MOST_POSTS)]


def marked_runs(row: dict[str, Any]) -> list[str]:
    """Return runs of adjacent marked words, as in the post."""
    marked = zip(row["tokens"], row["rationale_majority"] or [], strict=False)
    runs = [
        " ".join(token for token, _ in several)
        for held, several in groupby(marked, key=lambda one: bool(one[1]))
        if held
    ]
    return [run for run in runs if run in row["text"] and '"' not in run]


def _explanation(runs: Sequence[str], group: str) -> str:
    quoted = " and ".join(f'"{run}"' for run in runs)
    return f"The post uses {quoted} to attack {group}. I would therefore classify it as hateful."


def told_apart(rows: Sequence[Explained]) -> dict[str, Any]:
    """Compare hateful posts with their own explanations and with those of other posts, under one
    model."""
    real = SERVICE.score_batch([one.request() for one in rows])
    shuffled = SERVICE.score_batch(
        [
            one.request(rows[(place + moved) % len(rows)].explanation)
            for moved in ROTATIONS
            for place, one in enumerate(rows)
        ]
    )
    own, others = scores(real), scores(shuffled)
    elsewhere = scores(one for one in shuffled if not quotes(one))
    pointing = scores(one for one in real if not is_echo(one))
    return {
        "posts": len(rows),
        "read_right": sum(one.decision_match is True for one in real),
        "without_a_score": sum(one.score is None for one in real),
        "why": Counter(why.code for one in real for why in one.reasons if why.component != "score"),
        "group_named": sum(one.components.tgi == 1 for one in real),
        "located": sum(len(quotes(one)) for one in real),
        "hallucinated": sum(len(one.hallucinated_quotes) for one in real),
        "with_a_score": {"real": len(own), "shuffled": len(others)},
        "mean_score": {"real": float(np.mean(own)), "shuffled": float(np.mean(others))},
        "area_real_against_shuffled": auc_of_groups(own, others),
        "area_against_those_that_quote_nothing": auc_of_groups(own, elsewhere),
        "area_of_those_that_do_not_quote_all": auc_of_groups(pointing, others),
        "that_do_not_quote_all": len(pointing),
        "corr_p_qf": correlation(of_p(real)),
        "of": len(of_p(real)),
    }


def since_first_version(rows: Sequence[Explained]) -> dict[str, Any]:
    """Compare QF and the control's verdict by version 1.0's rules, which `paper` keeps (|dp|, any
    judge, more than half of 20 draws beaten is "beyond chance"), with the present ones."""
    bodies = [one.request().model_dump() | {"options": {}} for one in rows]
    before, now = (
        SERVICE.score_batch(
            [HatexscoreRequest.model_validate(body | {"variant": variant}) for body in bodies]
        )
        for variant in ("paper", "robust")
    )
    qf = [[one.components.qf for one in reports] for reports in (before, now)]
    both = [
        (first, second) for first, second in zip(*qf, strict=True) if None not in (first, second)
    ]
    controls = [one.control for one in before if one.control is not None]
    return {
        "posts": len(rows),
        "qf_before": float(np.mean([one for one in qf[0] if one is not None])),
        "qf_where_both": [float(one) for one in np.mean(both, axis=0)],
        "qf_null": [sum(one is None for one in some) for some in qf],
        "qf_lowered": sum(first > second + 1e-9 for first, second in both),
        "opposed": sum((one.signed_drop or 0) < 0 for one in now),
        "beyond_chance_before": [sum(one.share_beaten > 0.5 for one in controls), len(controls)],
        "quotes_matter": Counter(
            check.outcome for one in now for check in checks(one) if check.name == MATTER
        ),
        "draws": float(np.mean([one.control.draws for one in now if one.control is not None])),
    }


def is_echo(report: HatexscoreResult) -> bool:
    """Return True if all of the post is quoted (Q = {T} of Eq. 3, QF 0)."""
    return bool(quotes(report)) and report.probability_masked is None


def measure(folder: Path = DATA) -> dict[str, Any]:
    """Measure with the bound models."""
    rows = explained(folder)
    other = [one.request() for one in rows if one.decision != DECISIONS[0]]
    return {
        "by_language_models": told_apart([one for one in rows if one.decision == DECISIONS[0]]),
        "non_toxic_read_right": [
            sum(one.decision_match is True for one in SERVICE.score_batch(other)),
            len(other),
        ],
        "by_people": told_apart(rationales(folder)),
    }


def measure_changes(folder: Path = DATA) -> dict[str, Any]:
    """Measure people's rationales, and language models' explanations of posts they call toxic."""
    toxic = [one for one in explained(folder) if one.decision == DECISIONS[0]]
    return {
        "by_people": since_first_version(rationales(folder)),
        "by_language_models": since_first_version(toxic),
    }


def main() -> None:
    asked = [one for one in sys.argv[1:] if one != "--changes"]
    folder = Path(asked[0]) if asked else DATA
    bind(local(load_catalogue(Path("models.toml"))))
    found = measure_changes(folder) if "--changes" in sys.argv else measure(folder)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
