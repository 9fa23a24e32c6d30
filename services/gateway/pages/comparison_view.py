"""A finished comparison as its page shows it: a conclusion in one sentence, and the pairs of
results. Every difference is right minus left, where left is the baseline. The conclusion uses the
corrected tests of problems first, then that of the score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from services.gateway.pages.result_query import value_name
from services.gateway.pages.terms import Term, terms
from services.gateway.results.result_pairs import ComparedJob
from shared.contracts.service import MetricContract
from shared.reports.comparison_decision import decision_of, score_is_clear
from shared.reports.pages.page_text import MarkedText, counted, significant
from shared.reports.pages.report_design import Forest, ForestRow
from shared.reports.pages.word_changes import WordChange, changes

Json = Mapping[str, Any]
WIDTH = 3.92  # of a 95 % interval, in standard errors
POWER = 2.8  # standard errors from 0 of a difference that is found with power 0.8
MOST_TEXTS = 1_000_000  # more are not suggested
MOST_DIFFERENCES = 12_000  # characters of a page about what changed in explanations
AROUND = 60  # characters that stay before and after a change

PartChange = tuple[str, float | None, float | None]  # its name, before or left, after or right


@dataclass(frozen=True)
class ComparedPart:
    """A component of the score, compared between the two systems."""

    name: str
    term: Term | None
    found: Json

    @property
    def title(self) -> str:
        return self.name if self.term is None else self.term.name


@dataclass(frozen=True)
class ProblemRow:
    """A problem found in explanations, with the number of pairs in which only the left or only the
    right result has it. `p` is corrected by Holm's method."""

    name: str
    only_left: int
    only_right: int
    p: float | None


@dataclass(frozen=True)
class PairRow:
    """A pair of results and their differences. `line` is the line number in the right batch."""

    custom_id: str | None
    line: int | None
    left: ComparedJob
    right: ComparedJob
    words: Sequence[WordChange]
    parts: Sequence[PartChange]


@dataclass(frozen=True)
class CompareContext:
    """The data of the comparison page. `address` is the page's address without the parameters that
    filter pairs."""

    sentences: Sequence[str]
    parts: Sequence[ComparedPart]
    problems: Sequence[ProblemRow]
    verdicts: Mapping[tuple[str, str], int]
    slices: Forest
    found: Json
    address: str

    @property
    def untested(self) -> tuple[int, int]:
        """Return how many pairs have no test result on the left side, and how many on the right
        side."""
        words = [(left, right, pairs) for (left, right), pairs in self.verdicts.items()]
        return (
            sum(pairs for left, _, pairs in words if left == "not_tested"),
            sum(pairs for _, right, pairs in words if right == "not_tested"),
        )

    def of_verdicts(self, left: str, right: str) -> str:
        """Return the address that shows only the pairs with these two verdicts."""
        return f"{self.address}&{urlencode({'verdicts': f'{left},{right}'})}#pairs"


def compare_context(
    metric: MetricContract, result: Json, names: tuple[str, str], address: str
) -> CompareContext:
    """Return the data of the comparison page. In `result`, the new system is the right side.
    `names` are (left, right)."""
    known = terms().of(metric.name)
    return CompareContext(
        sentences=_sentences(result, names, metric),
        parts=[
            ComparedPart(part["component"], known.get(part["component"]), part)
            for part in result["differences"]
        ],
        problems=[
            ProblemRow(
                metric.problems.get(problem["problem"], problem["problem"]),
                problem["only_baseline"],
                problem["only_new"],
                problem["p_adjusted"],
            )
            for problem in result.get("problems", ())
        ],
        verdicts={(cell["baseline"], cell["new"]): cell["pairs"] for cell in result["verdicts"]},
        slices=_slices(result["slices"], metric.score_range),
        found=result,
        address=address,
    )


def _sentences(result: Json, names: tuple[str, str], metric: MetricContract) -> list[str]:
    """Return the decision, then the counts and numbers that support it."""
    score = result["differences"][0]
    gap = score["difference"]
    old, new = (f"“{name}”" for name in names)
    sentences = [decision_of(result, metric, (old, new))]
    if result["verdicts"]:
        sentences.append(_verdict_counts(result["verdicts"], old, new))
    if gap["value"] is None:
        return [*sentences, "No line has a score on both sides."]
    sentences.append(_numbers(score, gap, old, new, is_clear=score_is_clear(score)))
    if missing := result["pairs"] - score["pairs"]:
        sentences.append(_missing(missing, result["pairs"], result["bounds"]))
    if not score_is_clear(score) and (texts := _texts_needed(gap)):
        size = f"a difference of {significant(abs(gap['value']))}"
        sentences.append(f"About {texts:,} texts are needed to distinguish {size} from chance.")
    return sentences


def _verdict_counts(verdicts: Sequence[Json], old: str, new: str) -> str:
    sentences = []
    for verdict, name in (("problem_found", "With a problem"), ("not_tested", "Not tested")):
        counts = [
            sum(cell["pairs"] for cell in verdicts if cell[side] == verdict)
            for side in ("baseline", "new")
        ]
        sentences.append(f"{name}: {counts[0]:,} of {old}, {counts[1]:,} of {new}.")
    more = counts[1] - counts[0]
    if more:
        way = "more" if more > 0 else "fewer"
        sentences.append(
            f"On {new} {counted(abs(more), f'{way} explanation')} could not be tested."
        )
    return " ".join(sentences)


def _numbers(score: Json, gap: Json, old: str, new: str, *, is_clear: bool) -> str:
    ends = (
        f" (95 % interval {significant(gap['low'])} to {significant(gap['high'])})"
        if gap["low"] is not None
        else ""
    )
    way = "higher" if gap["value"] > 0 else "lower"
    return (
        f"Over {counted(score['pairs'], 'pair')} the mean score of {new} is "
        f"{significant(abs(gap['value']))} {way} than that of {old}{ends}. "
        f"This is {'a' if is_clear else 'not a'} clear difference. "
        f"The score rises in {counted(score['higher'], 'pair')} and falls in {score['lower']:,}."
    )


def _missing(missing: int, pairs: int, bounds: Json | None) -> str:
    lead = f"{missing:,} of {counted(pairs, 'pair')} lack a score on at least one side"
    if bounds is None:
        return f"{lead}."
    low, high = significant(bounds["low"]), significant(bounds["high"])
    return (
        f"{lead}. If all pairs had scores, the difference could be anything from {low} to {high}."
    )


def _texts_needed(gap: Json) -> int:
    """Return how many texts would show this difference with power 0.8. Return 0 if there is no
    useful estimate."""
    if gap["low"] is None:
        return 0
    texts, error = gap.get("clusters") or gap["of"], (gap["high"] - gap["low"]) / WIDTH
    size = abs(gap["value"])
    if size * math.sqrt(MOST_TEXTS / texts) < POWER * error:
        return 0
    return math.ceil(texts * (POWER * error / size) ** 2) if size else 0


def _slices(differences: Sequence[Json], bounds: tuple[float, float] | None) -> Forest:
    """Return a forest plot of the differences in subsets of the pairs. Its scale is as wide as the
    widest interval, with zero in the middle."""
    ends = [
        abs(end)
        for item in differences
        for name in ("value", "low", "high")
        if (end := item["difference"][name]) is not None
    ]
    most = max(ends, default=0.0) or (1.0 if bounds is None else bounds[1] - bounds[0])
    named = [value_name(item["by"], item["value"]) for item in differences]
    gaps = zip(named, differences, strict=True)
    rows = [ForestRow(name, gap["difference"], level=0.0) for name, gap in gaps]
    return Forest(
        "Right minus left, lowest first. The vertical line marks no difference.",
        rows,
        (-most, most),
    )


def pair_rows(
    pairs: Sequence[tuple[str | None, str, str]],
    jobs: Mapping[str, ComparedJob],
    lines: Mapping[str, int],
    paths: Mapping[str, str],
) -> list[PairRow]:
    """Return the table rows for the pairs. `pairs` holds (custom id, left job, right job).
    `lines` maps right jobs to line numbers. `paths` maps names of a result's numbers to their
    JSON paths."""
    return [
        PairRow(
            custom_id,
            lines.get(right),
            jobs[left],
            jobs[right],
            _excerpt(_words(jobs[left], jobs[right]), MOST_DIFFERENCES // len(pairs)),
            part_changes(paths, jobs[left].result, jobs[right].result),
        )
        for custom_id, left, right in pairs
        if left in jobs and right in jobs
    ]


def part_changes(
    paths: Mapping[str, str], before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[PartChange]:
    """Return how each number that makes up the score changed, in the order of `paths`."""
    return [(name, _at(before, path), _at(after, path)) for name, path in paths.items()]


def _at(result: Mapping[str, Any], path: str) -> float | None:
    value: object = result
    for name in path.split("."):
        if isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]


def _words(left: ComparedJob, right: ComparedJob) -> tuple[WordChange, ...]:
    """Return the differences between the explanations, or nothing if one of them was not kept."""
    texts = [side.request.get("explanation") for side in (left, right)]
    if not all(isinstance(text, str) for text in texts):
        return ()
    return changes(str(texts[0]), str(texts[1]))


def _excerpt(words: Sequence[WordChange], most: int) -> list[WordChange]:
    """Return the changes with some words around them, cut to `most` characters."""
    shown, left = [], most
    if all(item.how == "same" for item in words):
        return []
    for index, change in enumerate(words):
        text = change.text
        if change.how == "same" and len(text) > 3 * AROUND:
            head, tail = text[: AROUND if index else 0], text[-AROUND:]
            text = f"{head} … {tail}" if index < len(words) - 1 else f"{head} …"
        if len(text) > left:
            text = f"{text[:left]} …"
        shown.append(WordChange(change.how, (MarkedText(text),)))
        left -= len(text)
        if left <= 0:
            break
    return shown
