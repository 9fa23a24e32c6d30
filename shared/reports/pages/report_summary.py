"""A summary of many results in one to three sentences, with denominators. Verdicts are counted over
the results; intervals and means are those of the report. Nothing is called "better" if the interval
contains the chance level."""

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
from shared.reports.pages.page_text import counted, percent, significant

NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"  # sentences that differ only in numbers are one
FOLDED = "…"  # replaces a number
FEW = 30  # results; below it a finding is tentative
MOST_PROBLEMS = 3
DEPTH = 4  # of a report, for searches of an interval
SIGNIFICANT = 0.05  # level of a test over all results
BEATEN_BY_CHANCE = 0.5  # win rate of a random explanation
VERDICTS: tuple[str, ...] = get_args(VerdictWord)
ESTIMATE = frozenset(Interval.model_fields)
LEAST_FIELDS = frozenset({"value", "low", "high", "of"})  # of an estimate


@dataclass(frozen=True)
class ResultTally:
    """The number of results, of results with a score, and of each outcome of their checks."""

    results: int
    scored: int
    verdicts: Mapping[str, int] = field(default_factory=dict)  # verdict → results
    problems: Mapping[str, int] = field(default_factory=dict)  # code → results
    untested: Mapping[str, int] = field(default_factory=dict)  # first reason → `not_tested` results

    @classmethod
    def of(cls, reports: Iterable[Report]) -> ResultTally:
        rows = list(reports)
        untested = [
            row.untested[0].reason for row in rows if row.verdict == "not_tested" and row.untested
        ]
        return cls(
            len(rows),
            sum(row.score is not None for row in rows),
            Counter(row.verdict for row in rows),
            Counter(code for row in rows for code in row.problems),
            Counter(untested),
        )


def sentences(
    contract: MetricContract | None, tally: ResultTally, report: Mapping[str, Any]
) -> list[str]:
    """Summarise a batch report in sentences. `report` is JSON, or {} before it is stored."""
    without = tally.results - tally.scored
    begins = () if contract is None else contract.facts.caveats
    warnings = [text for text in map(str, report.get("warnings", ())) if text.startswith(begins)]
    caveats = [f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in warnings if begins]
    return [
        f"{_verdicts(tally)}{_repeated(tally, report)}",
        *_problems(contract, tally),
        *_untested(tally),
        *_compared(contract, tally, report),
        *caveats,
        *([f"{without:,} {'has' if without == 1 else 'have'} no score."] if without else []),
    ]


PHRASES = {  # verdict → (singular, plural)
    "holds_up": ("holds up", "hold up"),
    "problem_found": ("has a problem", "have a problem"),
    "not_tested": ("could not be tested", "could not be tested"),
}


def verdict_phrase(verdict: str, count: int) -> str:
    """Return a verdict on `count` explanations as a phrase, such as `3 hold up`."""
    return f"{count:,} {PHRASES[verdict][count != 1]}"


def _verdicts(tally: ResultTally) -> str:
    subject = f"Of {tally.results:,} {'explanation' if tally.results == 1 else 'explanations'}"
    counts = [(word, tally.verdicts.get(word, 0)) for word in VERDICTS]
    phrases = [verdict_phrase(word, count) for word, count in counts if count]
    if not phrases:
        return f"{subject} none has a result."
    few = " These are too few for a conclusion." if tally.results < FEW else ""
    *first, last = phrases
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{subject} {listed}.{few}"


def _problems(contract: MetricContract | None, tally: ResultTally) -> list[str]:
    phrases = {} if contract is None else contract.problems
    most = sorted(tally.problems.items(), key=lambda item: -item[1])[:MOST_PROBLEMS]
    problems = [f"{phrases.get(code, code)} ({count:,})" for code, count in most if count]
    return (
        [f"The most frequent problems are: {', '.join(problems)}."]
        if len(problems) > 1
        else [f"The only problem is: {name}." for name in problems]
    )


def _untested(tally: ResultTally) -> list[str]:
    if not tally.untested:
        return []
    code, count = max(tally.untested.items(), key=lambda item: item[1])
    reason, action = code.replace("-", " "), ACTIONS.get(code, "")
    return [
        f"The most frequent reason for a missing test is: {reason} ({count:,}). {action}".strip()
    ]


def _repeated(tally: ResultTally, report: Mapping[str, Any]) -> str:
    """Return a sentence that explains why means are based on fewer results than the report has.
    Return "" without repeated results."""
    repeats = report.get("duplicates") or 0
    if not repeats or tally.results <= report.get("scored", 0):
        return ""
    verb = "repeats" if repeats == 1 else "repeat"
    distinct = (report.get("score") or {}).get("of", 0)
    return (
        f" {repeats:,} of the {tally.results:,} {verb} other results, and repeated results count "
        f"once. Means are over {counted(distinct, 'result')} with a score."
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
    """Compare all results with chance, or each group that is reported separately."""
    facts = contract.facts
    name = facts.chance.rpartition(".")[2]
    if facts.gain is not None and (gain := found_at(report, facts.gain.path)) is not None:
        low, high = gain["low"], gain["high"]
        mean = f"mean gain {significant(gain['value'])}{_between(gain)}"
        if low is None or high is None or low <= 0 <= high:
            return [f"It is unclear whether {facts.gain.closer}: {mean}."]
        text = facts.gain.closer if low > 0 else facts.gain.farther
        return [f"{text[:1].upper()}{text[1:]}: {mean}."]
    if facts.rivals is None:
        return []
    if not facts.groups:
        beaten = interval_in(report, name)
        return [] if beaten is None else [_against(facts.rivals, beaten)]
    groups = ((group, found_at(report, f"{group.path}.{name}")) for group in facts.groups)
    return [
        _of_group(group, facts.rivals, beaten, record_at(report, f"{group.path}.together"))
        for group, beaten in groups
        if beaten is not None
    ]


def _of_group(
    group: RivalGroup,
    rivals: tuple[str, str],
    beaten: Mapping[str, Any],
    together: Mapping[str, Any],
) -> str:
    """Return the sentence about a group of results. `beaten` is the group's comparison with
    `rivals`. `together` is the joint test of all results in the group, or {}."""
    title = f"{group.name[:1].upper()}{group.name[1:]} ({beaten['of']:,})"
    if not group.wanted:
        text = _against(rivals, beaten, together.get("p_value"))
        single = ""
        if together.get("found"):
            single = (
                f" {together['found']:,} of them are significant in their own tests. At most "
                f"{percent(together['rate'])} of these are expected by chance."
            )
        return f"{title}: {text[:1].lower()}{text[1:]}{single}"
    return f"{title}: {group.wanted.format(share=percent(beaten['value']))}."


def found_at(report: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    estimate = record_at(report, path)
    return estimate if is_interval(estimate) and estimate["value"] is not None else None


def record_at(report: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    value: Any = report
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _against(
    rivals: tuple[str, str], beaten: Mapping[str, Any], p_value: float | None = None
) -> str:
    """Return a sentence that compares the win rate `beaten` with chance. `rivals` holds the start
    and end of the sentence. `p_value` is from one test of all results. If it is None, the
    confidence interval decides."""
    stem, others = rivals
    level = BEATEN_BY_CHANCE
    claim = f"{stem[:1].lower()}{stem[1:]}"
    low, high = beaten["low"], beaten["high"]
    share, chance = percent(beaten["value"]), f"chance {percent(level)}"
    has_ends = low is not None and high is not None
    if not has_ends and p_value is None:
        figures = f"({share}; {chance})"
        return f"There are too few results to tell whether {claim} better than {others} {figures}."
    ends = f", interval {percent(low)} to {percent(high)}" if has_ends else ""
    test = ""
    if p_value is not None:
        p = "p < 0.001" if p_value < 0.001 else f"p = {significant(p_value)}"
        test = f"; {p} for all results together"
    figures = f"({share}{ends}; {chance}{test})"
    is_chance = low <= level <= high if p_value is None else p_value > SIGNIFICANT
    if is_chance:
        return f"It is unclear whether {claim} better than {others} {figures}."
    return f"{stem} {'better' if beaten['value'] > level else 'worse'} than {others} {figures}."


def _between(mean: Mapping[str, Any]) -> str:
    if mean["low"] is None or mean["high"] is None:
        return ""
    return f" (interval {significant(mean['low'])} to {significant(mean['high'])})"


def fold_alike(sentences: Iterable[str]) -> list[str]:
    """Merge sentences that differ only in numbers, in the order of their first occurrence. A number
    that differs becomes a range, such as "3 to 7", with the number of sentences."""
    groups: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(sentences):
        groups.setdefault(re.sub(NUMBER, FOLDED, sentence), []).append(sentence)
    folded = []
    for group in groups.values():
        if len(group) == 1:
            folded.append(group[0])
            continue
        numbers = []
        for column in zip(*(re.findall(NUMBER, sentence) for sentence in group), strict=True):
            ends = sorted(set(column), key=lambda number: float(number.replace(",", "")))
            numbers.append(ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[-1]}")
        words = re.split(NUMBER, group[0])
        text = "".join(word + number for word, number in zip(words, [*numbers, ""], strict=True))
        folded.append(f"{text} ({len(group)} times)")
    return folded


def is_interval(value: Any) -> bool:
    """Return True if this JSON is an estimate with its interval."""
    return isinstance(value, Mapping) and LEAST_FIELDS <= set(value) <= ESTIMATE


def interval_in(report: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Return the first estimate of this name in a report's JSON. Less nested estimates come
    first."""
    level = [report]
    for _ in range(DEPTH):
        for item in level:
            estimate: Any = item.get(name)
            if is_interval(estimate) and estimate["value"] is not None:
                return dict(estimate)
        level = [
            inner
            for item in level
            for value in item.values()
            for inner in (value if isinstance(value, list) else [value])
            if isinstance(inner, Mapping) and not is_interval(inner)
        ]
    return None
