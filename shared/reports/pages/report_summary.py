"""What many results come to, in one to three sentences with their denominators.

No judgement is formed here: verdicts are the results' own, intervals and means the report's. What
the verdicts are is said first, before it the undefined share where that is large, and nothing is
"better" while the interval holds what chance would have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from shared.contracts.messages import Report, VerdictWord
from shared.contracts.reports import Interval
from shared.contracts.service import MetricContract, RivalGroup
from shared.reports.pages.page_text import percent, significant

NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"  # sentences that differ in one are one reason
FOLDED = "…"  # in its place
FEW = 30  # results: fewer are said to be few
MUCH = 0.1  # an undefined share above it is said first
DEPTH = 4  # of a report, where a part's interval is looked for
BEATEN_BY_CHANCE = 0.5  # share of random rivals that a random explanation beats
VERDICTS: tuple[str, ...] = get_args(VerdictWord)
ESTIMATE = frozenset(Interval.model_fields)
LEAST_FIELDS = frozenset({"value", "low", "high", "of"})  # of an estimate on a page


@dataclass(frozen=True)
class ResultTally:
    """So many results, those with a score, and what is said of them.

    verdicts: verdict → results.
    too_few: of those with a score, how many could not have been supported, whatever was explained.
    why: the sentence of a result without a score -> such results, the most frequent first.
    """

    results: int
    scored: int
    verdicts: Mapping[str, int] = field(default_factory=dict)
    why: Mapping[str, int] = field(default_factory=dict)
    too_few: int = 0

    @classmethod
    def of(cls, reports: Iterable[Report], contract: MetricContract) -> ResultTally:
        """Of the results that a report rests on."""
        listed = list(reports)
        why = Counter(sorted(one.reason or "" for one in listed if one.score is None))
        verdicts: Counter[str] = Counter(one.verdict for one in listed)
        asked = contract.facts.too_few
        too_few = sum(
            one.score is not None and any(rivals.holds(one) for rivals in asked) for one in listed
        )
        scored = len(listed) - why.total()
        return cls(len(listed), scored, verdicts, dict(why.most_common()), too_few)

    @property
    def is_much_undefined(self) -> bool:
        return self.results - self.scored > MUCH * self.results

    @property
    def judged(self) -> dict[str, int]:
        """Verdict → results, the most frequent first; what is undefined has none."""
        found = {word: self.verdicts.get(word, 0) for word in VERDICTS if word != "undefined"}
        ordered = sorted(found.items(), key=lambda one: -one[1])
        return {word: count for word, count in ordered if count}

    @property
    def is_undecided(self) -> bool:
        """Whether nothing at all can be said of those with a score."""
        return self.scored > 0 and self.judged == {"undecided": self.scored}


def sentences(
    contract: MetricContract | None, tally: ResultTally, report: Mapping[str, Any]
) -> list[str]:
    """report: as JSON; empty while it is being made: then only what can be counted is told."""
    undefined = tally.results - tally.scored
    few = " That is few." if 0 < tally.scored < FEW else ""
    lead = f"{_verdicts(contract, tally)}{few}{_repeated(tally, report)}"
    without = [f"{undefined:,} {'has' if undefined == 1 else 'have'} no score{_most(tally.why)}."]
    begins = (
        () if contract is None else contract.facts.caveats
    )  # of warnings that change the reading
    said = [str(one) for one in report.get("warnings", ()) if str(one).startswith(begins)]
    caveats = [f"{one[:1].upper()}{one[1:].rstrip('.')}." for one in said if begins]
    compared = [*_compared(contract, tally, report), *_out_of_reach(tally), *caveats]
    if not undefined:
        return [lead, *compared]
    if tally.is_much_undefined:
        return [lead, *without, *compared]
    return [lead, *compared, *without]


def _verdicts(contract: MetricContract | None, tally: ResultTally) -> str:
    """The main finding: of how many explanations which verdict. Where many have no score, or where
    others than those with a score have a verdict, how many could be scored is said before it."""
    whole = f"Of {tally.results:,} {'explanation' if tally.results == 1 else 'explanations'}"
    scored = f"{whole} {f'{tally.scored:,}' if tally.scored else 'none'} could be scored"
    judged = tally.judged
    if not judged:
        return f"{scored}."
    first, *others = judged.items()
    told = f"{first[1]:,} {'is' if first[1] == 1 else 'are'} {first[0]}"
    told = ", ".join([told, *(f"{count:,} {word}" for word, count in others)])
    if tally.is_undecided and contract is not None and contract.facts.chance:
        told += ": chance would do as well, or it cannot be told"
    if sum(judged.values()) != tally.scored:
        return f"{scored}, and {sum(judged.values()):,} have a verdict: {told}."
    return f"{scored}: {told}." if tally.is_much_undefined else f"{whole} {told}."


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
    told = found[0][0] if len(found) == 1 else folded
    told = re.sub(rf"([=<>≤≥]) {FOLDED}", r"\1 various values", told).replace(FOLDED, "some")
    told = re.sub("^No score: ", "", told).rstrip(".")
    return f": {told}" if count == sum(why.values()) else f", most often ({count:,}): {told}"


def _compared(
    contract: MetricContract | None, tally: ResultTally, report: Mapping[str, Any]
) -> list[str]:
    if contract is None or not tally.scored or (tally.is_undecided and contract.facts.chance):
        return []
    if against := _against_chance(contract, report):
        return against
    mean: Any = report.get("score")
    if not is_interval(mean) or mean["value"] is None:
        return []
    return [f"Their mean score is {significant(mean['value'])}{_between(mean)}."]


def _against_chance(contract: MetricContract, report: Mapping[str, Any]) -> list[str]:
    """Of all results together, or of each group that other numbers are wanted of."""
    facts = contract.facts
    name = facts.chance.rpartition(".")[2]
    if facts.gain is not None and (gain := found_at(report, facts.gain.path)) is not None:
        low, high = gain["low"], gain["high"]
        told = f"mean gain {significant(gain['value'])}{_between(gain)}"
        if low is None or high is None or low <= 0 <= high:
            return [f"It cannot be told whether {facts.gain.closer}: {told}."]
        said = facts.gain.closer if low > 0 else facts.gain.farther
        return [f"{said[:1].upper()}{said[1:]}: {told}."]
    if facts.rivals is None:
        return []
    if not facts.groups:
        beaten = interval_in(report, name)
        return [] if beaten is None else [_against(facts.rivals, beaten)]
    found = ((one, found_at(report, f"{one.path}.{name}")) for one in facts.groups)
    return [_of_group(one, facts.rivals, beaten) for one, beaten in found if beaten is not None]


def _of_group(group: RivalGroup, rivals: tuple[str, str], beaten: Mapping[str, Any]) -> str:
    named = f"{group.name[:1].upper()}{group.name[1:]} ({beaten['of']:,})"
    if not group.wanted:
        told = _against(rivals, beaten)
        return f"{named}: {told[:1].lower()}{told[1:]}"
    stem, others = rivals
    share = percent(beaten["value"])
    return f"{named}: {group.wanted}; {stem.lower()} more than {share} of {others}."


def found_at(report: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    """The estimate at this dotted path of a report's JSON, where it has a value."""
    found = record_at(report, path)
    return found if is_interval(found) and found["value"] is not None else None


def record_at(report: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """The object at this dotted path of a report's JSON; empty where there is none."""
    found: Any = report
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


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
    told, chance = percent(beaten["value"]), f"chance {percent(level)}"
    if low is None or high is None:
        return f"Too few to tell whether {own} better than {others} ({told}; {chance})."
    told = f"({told}, interval {percent(low)} to {percent(high)}; {chance})"
    if low <= level <= high:
        return f"That {own} better than {others} cannot be told apart from chance {told}."
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
    folded = []
    for found in alike.values():
        if len(found) == 1:
            folded.append(found[0])
            continue
        numbers = []
        for column in zip(*(re.findall(NUMBER, one) for one in found), strict=True):
            ends = sorted(set(column), key=lambda one: float(one.replace(",", "")))
            numbers.append(ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[-1]}")
        words = re.split(NUMBER, found[0])
        told = "".join(word + number for word, number in zip(words, [*numbers, ""], strict=True))
        folded.append(f"{told} ({len(found)} times)")
    return folded


def is_interval(value: Any) -> bool:
    """Whether this JSON is an estimate with its interval."""
    return isinstance(value, Mapping) and LEAST_FIELDS <= set(value) <= ESTIMATE


def interval_in(report: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """The first estimate of this name in a report's JSON, the least nested one."""
    level = [report]
    for _ in range(DEPTH):
        for one in level:
            found: Any = one.get(name)
            if is_interval(found) and found["value"] is not None:
                return dict(found)
        level = [
            inner
            for one in level
            for value in one.values()
            for inner in (value if isinstance(value, list) else [value])
            if isinstance(inner, Mapping) and not is_interval(inner)
        ]
    return None
