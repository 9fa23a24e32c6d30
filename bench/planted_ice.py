"""Computes the results of ICE for explanations whose truth is known.

A row is one kind of explanation of one plant. S is the one-sided sufficiency test and N the
one-sided necessity test. I is their interaction. Values that the metric does not report are
null.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.planted_model import Trained, judged_by
from bench.planted_texts import Places, Plant, PlantedText, Random, ladder, random_places
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from shared.statistics import intervals
from shared.statistics.agreement import auc_of_groups
from shared.statistics.seeds import generator

LEVEL = 0.05
TOGETHER = 100  # requests in one batch

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """An explanation of a text. `kind` is the kind of random explanations it is compared with, and
    `target` the explained label."""

    row: str
    text: PlantedText
    places: Places
    kind: str
    target: str
    two_sided: bool = False

    @property
    def of_size(self) -> bool:
        """Return True if the row counts false positives of random explanations."""
        return self.row.startswith(("random", "causeless"))

    def request(self) -> IceRequest:
        return IceRequest.model_validate(
            {
                "text": self.text.text,
                "rationale": self.text.spans(self.places),
                "decision": self.target,
                "options": {
                    "null": self.kind,
                    "alternative": "two-sided" if self.two_sided else "greater",
                },
            }
        )


@dataclass(frozen=True)
class Outcome:
    """The outcome of one explanation. A value that the metric does not report is None."""

    p: dict[str, float | None]  # by aspect
    against: dict[str, float | None]  # by aspect, the other side
    ties: float | None  # of the sufficiency test
    size: float | None  # of the sufficiency test at level .05, of an explanation that is random
    win_rate: float | None  # of the sufficiency test
    verdict: str | None
    reading: str | None
    interaction: int | None = None  # its sign where it cannot be chance, else 0


def asked_of(plant: Plant, seed: int, texts: int) -> list[Asked]:
    """Return explanations of every quality for `texts` texts with label 1, and the rows that only
    this plant has."""
    random = generator(seed, "planted", plant.name, "ladder")
    found: list[Asked] = []
    for _ in range(texts):
        text = plant.write(random, 1)
        for name, places in ladder(plant, text, random).items():
            found.append(_asked(plant, text, name, places))
        if text.cause:
            found.append(_asked(plant, text, "negated", text.cause, "non-hateful"))
    if plant.name == "bigram":
        found += _causeless(plant, random, texts)
    return [_named(plant, one) for one in found]


def _asked(
    plant: Plant, text: PlantedText, row: str, places: Places, target: str = "hateful"
) -> Asked:
    kind = "spans" if plant.name == "bigram" else "words"
    return Asked(row, text, places, kind, target, two_sided=row in ("random", "negated"))


def _named(plant: Plant, one: Asked) -> Asked:
    if plant.name == "OR" and one.row in ("true", "half"):
        both = len(one.text.cause) > 1
        row = {"true": "both" if both else "the only one", "half": "one of two"}[one.row]
        return Asked(row, one.text, one.places, one.kind, one.target, one.two_sided)
    return one


def _causeless(plant: Plant, random: Random, texts: int) -> list[Asked]:
    """Return explanations by two neighbouring words in a text without planted words, to compare
    with passages and with tokens."""
    found = []
    for _ in range(texts):
        text = plant.write(random, 0)
        while text.placed:
            text = plant.write(random, 0)
        places = random_places(text, 2, random, together=True)
        found.append(Asked("causeless", text, places, "spans", "hateful", two_sided=True))
        row = "causeless, null tokens"
        found.append(Asked(row, text, places, "tokens", "hateful", two_sided=True))
    return found


def size_asked(plant: Plant, seed: int, texts: int) -> list[Asked]:
    """Return more random explanations, enough to estimate the test's error rate."""
    random = generator(seed, "planted", plant.name, "size")
    found = []
    for _ in range(texts):
        text = plant.write(random, 1)
        together = plant.name == "bigram"
        places = random_places(text, len(text.cause) or 2, random, together=together)
        found.append(_asked(plant, text, "random", places))
    return found


def outcomes(model: Trained, asked: Sequence[Asked]) -> list[Outcome]:
    """Return the results of the metric's batch."""
    found = []
    with judged_by(model.score):
        for start in range(0, len(asked), TOGETHER):
            some = asked[start : start + TOGETHER]
            reports = SERVICE.score_batch([one.request() for one in some])
            found += [
                _outcome(report.components.model_dump(), two_sided=one.of_size)
                for report, one in zip(reports, some, strict=True)
            ]
    return found


def _outcome(components: Json, *, two_sided: bool) -> Outcome:
    name = "p_two_sided" if two_sided else "p_value"
    tests = {test.get("aspect", "sufficiency"): test for test in components["tests"]}
    first = tests["sufficiency"]
    readings = components.get("readings", ())
    return Outcome(
        p={aspect: test[name] for aspect, test in tests.items()},
        against={aspect: test["p_anti"] for aspect, test in tests.items()},
        ties=first["tie_rate"],
        size=_attained(first["null"]["draws"], sides=1 + two_sided),
        win_rate=first["win_rate"],
        verdict=first["verdict"],
        reading=readings[0]["reading"] if readings else None,
        interaction=_sign(readings[0]) if readings else None,
    )


def _sign(reading: Json) -> int | None:
    value, p = reading["interaction"], reading["p_interaction"]
    return None if value is None or p is None else int(np.sign(value)) * (p <= LEVEL)


def _attained(draws: int, *, sides: int) -> float | None:
    """Return the largest attainable p at or below the level for this number of draws."""
    if not draws:
        return None
    return sides * int(LEVEL / sides * (draws + 1) + 1e-9) / (draws + 1)


def table(asked: Sequence[Asked], found: Sequence[Outcome]) -> dict[str, Json]:
    """Return for each row the rates of small p with Wilson intervals, ties, readings and
    verdicts."""
    rows: dict[str, list[tuple[Asked, Outcome]]] = defaultdict(list)
    for one, outcome in zip(asked, found, strict=True):
        rows[one.row].append((one, outcome))
    return {name: _row(pairs) for name, pairs in rows.items()}


def _row(pairs: Sequence[tuple[Asked, Outcome]]) -> Json:
    found = [outcome for _, outcome in pairs]
    keys = [one.text.text for one, _ in pairs]
    ties = [outcome.ties for outcome in found if outcome.ties is not None]
    sizes = [outcome.size for outcome in found if outcome.size is not None]
    readings = Counter(outcome.reading for outcome in found)
    return {
        "n": len(found),
        "size": round(float(np.mean(sizes)), 3) if sizes else None,
        "S": _rate([outcome.p.get("sufficiency") for outcome in found], keys),
        "N": _rate([outcome.p.get("necessity") for outcome in found], keys),
        "S against": _rate([outcome.against.get("sufficiency") for outcome in found], keys),
        "N against": _rate([outcome.against.get("necessity") for outcome in found], keys),
        "synergy": _found([outcome.interaction for outcome in found], 1, keys),
        "redundancy": _found([outcome.interaction for outcome in found], -1, keys),
        "win rate": _mean([outcome.win_rate for outcome in found], keys),
        "ties": round(float(np.mean(ties)), 3) if ties else None,
        "verdicts": dict(Counter(outcome.verdict or "null" for outcome in found)),
        "reading": None
        if None in readings
        else {name: round(count / len(found), 3) for name, count in readings.items()},
    }


def _rate(p: Sequence[float | None], keys: Sequence[str]) -> list[float] | None:
    return _shown(
        intervals.share([None if one is None else float(one <= LEVEL) for one in p], keys)
    )


def _found(signs: Sequence[int | None], sign: int, keys: Sequence[str]) -> list[float] | None:
    told = [None if one is None else float(one == sign) for one in signs]
    return _shown(intervals.share(told, keys))


def _mean(rates: Sequence[float | None], keys: Sequence[str]) -> list[float] | None:
    return _shown(intervals.mean("win rate", rates, keys, (0.0, 1.0)))


def _shown(found: intervals.IntervalEstimate) -> list[float] | None:
    if found.value is None:
        return None
    return [round(one, 3) for one in (found.value, found.low, found.high) if one is not None]


def areas(asked: Sequence[Asked], found: Sequence[Outcome]) -> dict[str, float | None]:
    """Return the probability that a better explanation has a smaller p than a worse one, and that
    it has a larger win rate. Ties count half. p cannot fall below 1/(placements + 1), but win rates
    have no such limit."""
    p: dict[str, list[float]] = defaultdict(list)
    losses: dict[str, list[float]] = defaultdict(list)
    for one, outcome in zip(asked, found, strict=True):
        value = outcome.p.get("sufficiency")
        if value is not None and outcome.win_rate is not None:
            p[one.row].append(value)
            losses[one.row].append(1 - outcome.win_rate)
    return {
        f"{better} against {worse}{name}": _area(_rung(values, better), _rung(values, worse))
        for name, values in (("", p), (", win rate", losses))
        for better, worse in (("true", "swapped"), ("padded", "true"))
    }


def _rung(values: dict[str, list[float]], row: str) -> list[float]:
    own = values[row]
    return own or values["both"] + values["the only one"] if row == "true" else own


def _area(better: Sequence[float], worse: Sequence[float]) -> float | None:
    if not better or not worse:
        return None
    return round(auc_of_groups(worse, better), 3)
