"""What many results come to, in one to three sentences with their denominators.

No judgement is formed here: verdicts are the results' own, intervals and means the report's. The
undefined share is said first where it is large, and nothing is "better" while the interval holds
what chance would have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shared.contracts import Report
from shared.page_text import significant
from shared.report_contracts import Interval
from shared.service_contract import MetricContract

NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"  # sentences that differ in one are one reason
FOLDED = "…"  # in its place
FEW = 30  # results: fewer are said to be few
MUCH = 0.1  # an undefined share above it is said first
DEPTH = 4  # of a report, where a part's interval is looked for
BEATEN_BY_CHANCE = 0.5  # share of random rivals that a random explanation beats
ESTIMATE = frozenset(Interval.model_fields)
BEFORE_2_0 = frozenset({"value", "low", "high", "of"})  # of reports that were stored then


@dataclass(frozen=True)
class ResultTally:
    """So many results, those with a score, and those that are undecided.

    too_few: of those with a score, how many could not have been supported, whatever was explained.
    why: the sentence of a result without a score -> such results, the most frequent first.
    """

    results: int
    scored: int
    undecided: int = 0
    why: Mapping[str, int] = field(default_factory=dict)
    too_few: int = 0

    @classmethod
    def of(cls, reports: Iterable[Report], contract: MetricContract) -> ResultTally:
        """Of the results that a report rests on."""
        listed = list(reports)
        why = Counter(sorted(one.reason or "" for one in listed if one.score is None))
        undecided = sum(one.verdict == "undecided" for one in listed)
        asked = contract.facts.too_few
        too_few = sum(
            one.score is not None and any(rivals.holds(one) for rivals in asked) for one in listed
        )
        scored = len(listed) - why.total()
        return cls(len(listed), scored, undecided, dict(why.most_common()), too_few)

    @classmethod
    def from_report(cls, report: Mapping[str, Any]) -> ResultTally:
        """Of a report from before reports had a finding: it says neither verdicts nor reasons."""
        results = int(report.get("scored", 0))
        return cls(results, results - int(report.get("undefined", 0)))


def sentences(
    contract: MetricContract | None, tally: ResultTally, report: Mapping[str, Any]
) -> list[str]:
    """report: as JSON; empty while it is being made: then only what can be counted is told."""
    undefined = tally.results - tally.scored
    few = " That is few." if 0 < tally.scored < FEW else ""
    explanations = "explanation" if tally.results == 1 else "explanations"
    scored = f"Of {tally.results:,} {explanations} {tally.scored:,} could be scored.{few}"
    scored += _repeated(tally, report)
    without = [f"{undefined:,} {'has' if undefined == 1 else 'have'} no score{_most(tally.why)}."]
    compared = [*_compared(contract, tally, report), *_out_of_reach(tally)]
    if not undefined:
        return [scored, *compared]
    if undefined > MUCH * tally.results:
        return [scored, *without, *compared]
    return [scored, *compared, *without]


def _repeated(tally: ResultTally, report: Mapping[str, Any]) -> str:
    """Why means rest on fewer results than there are; empty where they rest on all."""
    repeats = report.get("duplicates") or 0
    if not repeats or tally.results <= report.get("scored", 0):
        return ""
    verbs = ("repeats", "counts") if repeats == 1 else ("repeat", "count")
    distinct = (report.get("score") or {}).get("of", 0)
    return (
        f" {repeats:,} of the {tally.results:,} {verbs[0]} others and {verbs[1]} once: means are "
        f"over {distinct:,} with a score."
    )


def _most(why: Mapping[str, int]) -> str:
    """The most frequent reason, where there is one; sentences that differ in a number are one."""
    alike: dict[str, list[tuple[str, int]]] = {}
    for sentence, count in why.items():
        alike.setdefault(re.sub(NUMBER, FOLDED, sentence), []).append((sentence, count))
    most = max(alike.items(), key=lambda one: sum(count for _, count in one[1]), default=None)
    if most is None or not most[0]:
        return ""
    folded, found = most
    count = sum(count for _, count in found)
    told = (found[0][0] if len(found) == 1 else folded).rstrip(".")
    return f": {told}" if count == sum(why.values()) else f", most often ({count:,}): {told}"


def _compared(
    contract: MetricContract | None, tally: ResultTally, report: Mapping[str, Any]
) -> list[str]:
    if tally.scored and tally.undecided == tally.scored:
        told = "It is undecided" if tally.scored == 1 else f"All {tally.scored:,} are undecided"
        return [f"{told}: chance would do as well, or it cannot be told."]
    if contract is None or not tally.scored:
        return []
    beaten = interval_in(report, contract.facts.chance.rpartition(".")[2])
    if contract.facts.rivals is not None and beaten is not None:
        return [_against(contract.facts.rivals, beaten)]
    mean: Any = report.get("score")
    if not is_interval(mean) or mean["value"] is None:
        return []
    return [f"Their mean score is {significant(mean['value'])}{_between(mean)}."]


def _out_of_reach(tally: ResultTally) -> list[str]:
    """Those that chance alone kept from being supported, and why."""
    many = tally.too_few
    if not many:
        return []
    whole = f"None of the {many:,} could" if many > 1 else "It could not"
    told = whole if many == tally.scored else f"{many:,} of the {tally.scored:,} could not"
    return [
        f"{told} have been supported, whatever was explained: there are too few rivals to compare "
        "with, as in short texts, and the least p that they allow is too large."
    ]


def _against(rivals: tuple[str, str], beaten: Mapping[str, Any]) -> str:
    stem, others = rivals
    level = BEATEN_BY_CHANCE
    own = f"{stem[:1].lower()}{stem[1:]}"
    low, high = beaten["low"], beaten["high"]
    told = f"({beaten['value']:.0%}; chance {level:.0%})"
    if low is None or high is None:
        return f"Too few to tell whether {own} better than {others} {told}."
    told = f"({beaten['value']:.0%}, interval {low:.0%} to {high:.0%}; chance {level:.0%})"
    if low <= level <= high:
        return f"It cannot be told apart from chance whether {own} better than {others} {told}."
    return f"{stem} {'better' if low > level else 'worse'} than {others} {told}."


def _between(mean: Mapping[str, Any]) -> str:
    if mean["low"] is None or mean["high"] is None:
        return ""
    return f" (interval {significant(mean['low'])} to {significant(mean['high'])})"


def fold_alike(said: Iterable[str]) -> list[str]:
    """Sentences that differ in numbers only as one, in the order of the first of each: a number
    that differs is told as a range, "3 to 7", with how many sentences there were."""
    alike: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(said):
        alike.setdefault(re.sub(NUMBER, FOLDED, sentence), []).append(sentence)
    return [found[0] if len(found) == 1 else _range_of(found) for found in alike.values()]


def _range_of(found: Sequence[str]) -> str:
    columns = zip(*(re.findall(NUMBER, one) for one in found), strict=True)
    numbers = []
    for column in columns:
        ends = sorted(set(column), key=lambda one: float(one.replace(",", "")))
        numbers.append(ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[-1]}")
    words = re.split(NUMBER, found[0])
    told = "".join(f"{word}{number}" for word, number in zip(words, [*numbers, ""], strict=True))
    return f"{told} ({len(found)} times)"


def is_interval(value: Any) -> bool:
    """Whether this JSON is an estimate with its interval."""
    return isinstance(value, Mapping) and BEFORE_2_0 <= set(value) <= ESTIMATE


def interval_in(report: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """The first estimate of this name in a report's JSON, the least nested one."""
    for level in _levels(report):
        for one in level:
            found: Any = one.get(name)
            if is_interval(found) and found["value"] is not None:
                return dict(found)
    return None


def _levels(report: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    level = [report]
    for _ in range(DEPTH):
        yield level
        level = [
            inner
            for one in level
            for value in one.values()
            for inner in (value if isinstance(value, list) else [value])
            if isinstance(inner, Mapping) and not is_interval(inner)
        ]
