"""What many results come to, in one to three sentences with their denominators.

No judgement is formed here: verdicts are the results' own, intervals and means the report's.
Nothing is "better" while the interval contains the chance level.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from shared.contracts.checks import ACTIONS
from shared.contracts.messages import Report, VerdictWord
from shared.contracts.reports import Interval
from shared.contracts.service import MetricContract, RivalGroup
from shared.reports.pages.page_text import percent, significant

NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"  # sentences that differ in one are one reason
FOLDED = "…"  # in its place
FEW = 30  # results, with which a finding is tentative
MOST_PROBLEMS = 3
DEPTH = 4  # of a report, where a part's interval is looked for
SIGNIFICANT = 0.05  # p of a test of all results up to which they differ from chance
BEATEN_BY_CHANCE = 0.5  # share of random rivals that a random explanation beats
VERDICTS: tuple[str, ...] = get_args(VerdictWord)
ESTIMATE = frozenset(Interval.model_fields)
LEAST_FIELDS = frozenset({"value", "low", "high", "of"})  # of an estimate on a page


@dataclass(frozen=True)
class ResultTally:
    """The number of results, of those with a score, and what their checks found.

    verdicts: verdict → results. problems: code → results that have it. untested: first reason →
    results whose verdict is `not_tested`.
    """

    results: int
    scored: int
    verdicts: Mapping[str, int] = field(default_factory=dict)
    problems: Mapping[str, int] = field(default_factory=dict)
    untested: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, reports: Iterable[Report]) -> ResultTally:
        """Count the results that a report rests on."""
        listed = list(reports)
        untested = [
            one.untested[0].reason for one in listed if one.verdict == "not_tested" and one.untested
        ]
        return cls(
            len(listed),
            sum(one.score is not None for one in listed),
            Counter(one.verdict for one in listed),
            Counter(code for one in listed for code in one.problems),
            Counter(untested),
        )


def sentences(
    contract: MetricContract | None, tally: ResultTally, report: Mapping[str, Any]
) -> list[str]:
    """Return the finding as sentences. report: as JSON, empty while it is being made."""
    without = tally.results - tally.scored
    begins = () if contract is None else contract.facts.caveats
    warnings = [str(one) for one in report.get("warnings", ()) if str(one).startswith(begins)]
    caveats = [f"{one[:1].upper()}{one[1:].rstrip('.')}." for one in warnings if begins]
    return [
        f"{_verdicts(tally)}{_repeated(tally, report)}",
        *_problems(contract, tally),
        *_untested(tally),
        *_compared(contract, tally, report),
        *caveats,
        *([f"{without:,} {'has' if without == 1 else 'have'} no score."] if without else []),
    ]


SAID = {  # verdict → (of one explanation, of several)
    "holds_up": ("holds up", "hold up"),
    "problem_found": ("has a problem", "have a problem"),
    "not_tested": ("could not be tested", "could not be tested"),
}


def verdict_phrase(verdict: str, count: int) -> str:
    """Return what a verdict says of this many explanations, as in `3 hold up`."""
    return f"{count:,} {SAID[verdict][count != 1]}"


def _verdicts(tally: ResultTally) -> str:
    whole = f"Of {tally.results:,} {'explanation' if tally.results == 1 else 'explanations'}"
    counts = [(word, tally.verdicts.get(word, 0)) for word in VERDICTS]
    phrases = [verdict_phrase(word, count) for word, count in counts if count]
    if not phrases:
        return f"{whole} none has a result."
    few = " Too few for a conclusion." if tally.results < FEW else ""
    *first, last = phrases
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{whole} {listed}.{few}"


def _problems(contract: MetricContract | None, tally: ResultTally) -> list[str]:
    """The most frequent problems."""
    phrases = {} if contract is None else contract.problems
    most = sorted(tally.problems.items(), key=lambda one: -one[1])[:MOST_PROBLEMS]
    named = [f"{phrases.get(code, code)} ({count:,})" for code, count in most if count]
    return (
        [f"The most frequent problems: {', '.join(named)}."]
        if len(named) > 1
        else [f"The problem: {name}." for name in named]
    )


def _untested(tally: ResultTally) -> list[str]:
    """The most frequent reason, and what the caller can do about it."""
    if not tally.untested:
        return []
    code, count = max(tally.untested.items(), key=lambda one: one[1])
    reason, action = code.replace("-", " "), ACTIONS.get(code, "")
    return [f"The most frequent reason for no test: {reason} ({count:,}). {action}".strip()]


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


def _compared(
    contract: MetricContract | None, tally: ResultTally, report: Mapping[str, Any]
) -> list[str]:
    if contract is None or not tally.scored:
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
    return [
        _of_group(one, facts.rivals, beaten, record_at(report, f"{one.path}.together"))
        for one, beaten in found
        if beaten is not None
    ]


def _of_group(
    group: RivalGroup,
    rivals: tuple[str, str],
    beaten: Mapping[str, Any],
    together: Mapping[str, Any],
) -> str:
    """Return what one group of results shows. together: the test of all of them; empty: none."""
    named = f"{group.name[:1].upper()}{group.name[1:]} ({beaten['of']:,})"
    if not group.wanted:
        told = _against(rivals, beaten, together.get("p_value"))
        single = ""
        if together.get("found"):
            single = (
                f" {together['found']:,} of them stand out one by one, of which at most "
                f"{percent(together['rate'])} by chance."
            )
        return f"{named}: {told[:1].lower()}{told[1:]}{single}"
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


def _against(
    rivals: tuple[str, str], beaten: Mapping[str, Any], p_value: float | None = None
) -> str:
    """Compare with chance. p_value: of one test of all results; None: their interval decides."""
    stem, others = rivals
    level = BEATEN_BY_CHANCE
    own = f"{stem[:1].lower()}{stem[1:]}"
    low, high = beaten["low"], beaten["high"]
    told, chance = percent(beaten["value"]), f"chance {percent(level)}"
    has_ends = low is not None and high is not None
    if not has_ends and p_value is None:
        return f"Too few to tell whether {own} better than {others} ({told}; {chance})."
    ends = f", interval {percent(low)} to {percent(high)}" if has_ends else ""
    tested = "" if p_value is None else f"; one test of all: {_p(p_value)}"
    told = f"({told}{ends}; {chance}{tested})"
    is_chance = low <= level <= high if p_value is None else p_value > SIGNIFICANT
    if is_chance:
        return f"That {own} better than {others} cannot be told apart from chance {told}."
    return f"{stem} {'better' if beaten['value'] > level else 'worse'} than {others} {told}."


def _p(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {significant(p_value)}"


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
