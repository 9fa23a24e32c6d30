"""The commands `report`, `compare` and `plan`: reports on many results, and sample sizes."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from cyclopts import Group, Parameter
from cyclopts.validators import mutually_exclusive

from touchstone_client import _notebook
from touchstone_client._base import Result
from touchstone_client._languages import language_name
from touchstone_client._sync.client import Touchstone
from touchstone_client._wire import part_of
from touchstone_client.cli.app import Client, Out, Target, app
from touchstone_client.cli.output import DONE, REFUSED, WORSE, Output, WrongUse, has_ended
from touchstone_client.data.addresses import created
from touchstone_client.errors import BadRequest

DIFFERENCE = "new - baseline"
WORST = 10
BIGGEST = 10
LEAST_P = 0.001  # a smaller p-value is shown as below it
ALPHA = 0.05  # of the test that a batch loses scores
RULE = re.compile(r"\s*(difference|low|high|p)\s*(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)\s*")
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
FORM = Group("Instead of tables (choose one)", validator=mutually_exclusive)
File = Annotated[str | None, Parameter(group=FORM, metavar="FILE")]
NEEDED = {
    "texts": "texts for a mean score",
    "texts_upper": "texts for a mean score, at the largest likely spread of the scores",
    "compared_texts": "texts for the difference of the two batches",
    "compared_texts_upper": "texts for the difference, at the largest likely spread of the scores",
    "draws": "draws for a two-sided test of one explanation",
    "one_sided_draws": "draws for a one-sided test of one explanation",
}
ENDS = ("value", "low", "high", "of")
UNTESTED = "not_tested"
CHANCE = ("control", "chance", "null", "share_beaten", "win_rate")  # what a report calls it


@dataclass
class Lines:
    """The scores of a batch's lines, for lists of the worst lines."""

    scores: dict[str, float | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    is_higher_better: bool = True

    @classmethod
    def of(cls, batch: Any) -> Lines:
        """Read the scores from the batch's output file."""
        lines = cls()
        for line in batch.results():
            result = line.result
            if not isinstance(result, Result):
                continue
            lines.scores[line.custom_id] = result.score
            lines.reasons[line.custom_id] = f"{result.verdict}: {result.reason}"
            lines.is_higher_better = result.direction != "lower_is_better"
        return lines

    def worst(self) -> list[tuple[str, float, str]]:
        """Return (custom id, score, reason) of the worst lines, the worst first."""
        scored = [(id, score) for id, score in self.scores.items() if score is not None]
        scored.sort(key=lambda row: row[1], reverse=not self.is_higher_better)
        return [(id, score, self.reasons[id]) for id, score in scored[:WORST]]


@contextmanager
def writer(target: str | None, output: Output) -> Iterator[Any]:
    """Yield a function that writes bytes to the file `target`, or to stdout if it is None."""
    if target is not None:
        with created(target) as stream:
            yield stream.write
    else:
        yield output.raw
        output.write("")


@app.command
def report(
    batch: str,
    /,
    *,
    by: str | None = None,
    against: str | None = None,
    plot: Annotated[str | None, Parameter(group=FORM)] = None,
    html: File = None,
    csv: File = None,
    parquet: File = None,
    format: Literal["svg", "png"] = "svg",
    target: Target = None,
    ts: Client,
    output: Out,
) -> int | None:
    """Summarise the results of a batch that has ended: its conclusion, numbers and worst lines.

    Args:
        batch: Id of the batch.
        by: Split the mean scores by metadata.KEY, model, language or verdict.
        against: Compare with this baseline batch on the same texts, and print the report as JSON
            with its `comparison`.
        plot: Plot to write.
        html: Write tables and plots as one HTML file, without texts.
        csv: Write a CSV with one row per line of the batch.
        parquet: Write a Parquet file with the whole result of every line.
        format: Format of the plot.
        target: Write the report as JSON, or the plot, to this file.
    """
    handle = ts.batches.get(batch)
    if against is not None:
        if csv or html or plot or parquet:
            raise WrongUse("--against only prints numbers; leave out --plot, --html and --csv")
        ts.batches.get(against)
        comparison = ts.reports.make(handle.metric, batch=batch, against={"batch": against})
        _write_json(comparison, target, output)
    elif csv is not None:
        with created(csv) as stream:
            stream.write(handle.items_csv().encode())
    elif parquet is not None:
        if not has_ended(handle, output):
            return REFUSED
        count = handle.save(parquet, form="parquet")
        output.say(f"{count} answers in {parquet}")
    elif html is not None:
        content = handle.report_html().encode()
        with created(html) as stream:
            stream.write(content)
    elif plot is not None:
        if target is None and format == "png":
            raise WrongUse("a PNG cannot be printed; add --output FILE.png")
        image = handle.plot(plot, format=format)
        with writer(target, output) as write:
            write(image)
    else:
        whole = handle.report() if by is None else _split_report(ts, handle, by)
        if output.is_json or target is not None:
            _write_json(whole, target, output)
        else:
            _show_report(whole, handle, output)
    return DONE


def _write_json(report: Any, target: str | None, output: Output) -> None:
    with writer(target, output) as write:
        write(report.model_dump_json(by_alias=True, indent=2).encode() + b"\n")


def _show_report(report: Any, batch: Any, output: Output) -> None:
    output.line(getattr(report, "finding", "") or sentence_of(report))
    for reason, count in sorted(report.reasons.items(), key=lambda pair: -pair[1]):
        output.line(f"  {count} for {reason}")
    output.line("")
    titles = ("mean of", "value", "low", "high", "n", _notebook.PLAIN_NAME)
    output.table(titles, _notebook.with_plain_names(batch.metric, parts_in(report)))
    _show_without(report, output)
    if worth := what_it_can_tell(report.score):
        output.line(worth)
    if figures := list(beside_people(report)):
        output.line("")
        output.table(("beside people", "value", "low", "high", "n"), figures)
    if rows := Lines.of(batch).worst():
        output.line("")
        output.table(("worst lines", "score", "why"), rows)
    for split in getattr(report, "splits", ()):
        _show_split(split, output)
    _warn(report, output)


def _warn(report: Any, output: Output) -> None:
    """Print those warnings of the report that its conclusion does not already contain."""
    gold = getattr(report, "gold", None)
    finding = getattr(report, "finding", "").lower()
    for warning in (*report.warnings, *(() if gold is None else gold.warnings)):
        if warning.lower() not in finding:
            output.say(f"warning: {warning}")


def _show_without(report: Any, output: Output) -> None:
    if rows := list(_notebook.parts_without(report)):
        output.line("")
        output.table(("results without", "undefined", "does not apply"), rows)


def _split_report(ts: Touchstone, batch: Any, by: str) -> Any:
    with _by_errors(by):
        return ts.reports.make(batch.metric, batch=batch.id, by=[by])


@contextmanager
def _by_errors(by: str | None) -> Iterator[None]:
    """While the block runs, convert the service's error about the option `--by` into WrongUse."""
    try:
        yield
    except BadRequest as error:
        if any(fault.pointer.lstrip("#").startswith("/by") for fault in error.errors):
            raise WrongUse(f"--by {by!r}: {error.detail}") from error
        raise


def _show_split(split: Any, output: Output) -> None:
    """Print the mean score and interval for each value of the split. Then print the p-value of the
    test that all means are equal."""
    output.line("")
    rows = [
        (_value_name(split.by, group.value), *_ends(group.score), group.undefined)
        for group in split.values
    ]
    output.table((split.by, "mean score", "low", "high", "n", "undefined"), rows)
    if split.without:
        output.line(f"{split.without} lines have no value for {split.by}")
    if split.p_value is not None:
        output.line(f"test that all means are equal: p = {p_shown(split.p_value)}")
    for warning in split.warnings:
        output.say(f"warning: {warning}")


def sentence_of(report: Any) -> str:
    """Return a sentence with the number of scored explanations and their mean, for reports without
    a conclusion."""
    defined = report.scored - report.undefined
    sentence = f"{defined} of {report.scored} explanations could be scored"
    if report.undefined:
        sentence += f", {report.undefined} ({report.undefined / report.scored:.0%}) are undefined"
    if report.score.value is None:
        return f"{sentence}."
    low, high = report.score.low, report.score.high
    bounds = "" if low is None or high is None else f" (95 % interval {low:.3f} to {high:.3f})"
    if report.confidence != 0.95:
        bounds = bounds.replace("95 %", f"{report.confidence:.0%}")
    return f"{sentence}. Their mean score is {report.score.value:.3f}{bounds}."


def what_it_can_tell(mean: Any) -> str:
    """Return sentences about the number of independent texts, and the smallest difference that the
    batch can detect."""
    sentences = []
    if (count := getattr(mean, "effective", None)) is not None and mean.of:
        independent = f"{count:.1f}".removesuffix(".0")
        sentences.append(
            f"The score is based on {mean.of} lines, which count as {independent} independent "
            "texts."
        )
    if (least := getattr(mean, "detectable", None)) is not None:
        size = f"{least:.3f}" if least >= 0.001 else f"{least:.1e}"
        sentences.append(f"A true difference of {size} or more is found in 80 % of studies.")
    return " ".join(sentences)


def p_shown(value: float | None) -> str | None:
    """Return a p-value as text with three decimals. It is never shown as 0."""
    if value is None:
        return None
    if value < LEAST_P:
        return f"< {LEAST_P}"
    return f"{value:.3f}"


def beside_people(report: Any) -> Iterator[tuple[Any, ...]]:
    """Yield rows that compare the results with people: correct labels, marked passages and
    ratings."""
    gold = getattr(report, "gold", None)
    for group in ("labels", "rationales", "ratings"):
        figures = getattr(gold, group, None)
        for group_figures in (figures, getattr(figures, "threshold", None)):
            for name in type(group_figures).model_fields if group_figures is not None else ():
                if _is_interval(value := getattr(group_figures, name)) and value.value is not None:
                    yield (name.replace("_", " "), *_ends(value))


def _is_interval(value: Any) -> bool:
    return hasattr(value, "value") and hasattr(value, "of")


def parts_in(report: Any) -> Iterator[tuple[Any, ...]]:
    """Yield rows for the score, its components and the chance level. If there is no score, yield
    the mean of each metric."""
    details = report.details or {}
    if "scores" not in details:
        yield ("score", *_ends(report.score))
    for mean in details.get("scores", ()):
        yield (mean["metric"], *map(mean["score"].get, ENDS))
    for name, mean_of_part in _notebook.part_means(report):
        yield (name, *_ends(mean_of_part))
    for name in CHANCE:
        for suffix, interval in _by_decision(details, name):
            if isinstance(interval, dict) and {*ENDS} <= interval.keys():
                yield (f"chance: {name.replace('_', ' ')}{suffix}", *map(interval.get, ENDS))


def _by_decision(details: dict[str, Any], name: str) -> Iterator[tuple[str, Any]]:
    """Yield (suffix, number) for each decision, because high values mean different things for them.
    Without numbers by decision, yield the overall number with an empty suffix."""
    means = details.get("by_decision") or {}
    numbers = {decision: values[name] for decision, values in means.items() if name in values}
    if not numbers:
        yield "", details.get(name)
    for decision, number in numbers.items():
        yield f", {decision}", number


def _ends(mean: Any) -> tuple[Any, ...]:
    return tuple(getattr(mean, name) for name in ENDS)


@app.command
def compare(
    new: str,
    baseline: str,
    /,
    *,
    by: str | None = None,
    fail_if: Annotated[str | None, Parameter(metavar="RULE")] = None,
    ts: Client,
    output: Out,
) -> int:
    """Compare two batches on the same texts. Differences are the new batch minus the baseline.

    Args:
        new: Id of the new batch, or part of a batch: ID:metadata.KEY=VALUE or ID:model=NAME. The
            output calls it new.
        baseline: Id of the baseline batch, or part of it.
        by: Differences by metadata.KEY, model, language or verdict.
        fail_if: Exit with code 2 if this condition is true. It may use the difference of the mean
            scores (new minus baseline), the ends low and high of its interval, and p. 'high < 0'
            fails if the new batch is shown to be worse. 'low < -0.05' fails unless a loss of more
            than 0.05 is ruled out. Identical scores always pass. Exit code 2 also means that
            significantly more lines lost their score or verdict than gained one. A batch that did
            not complete is not checked, with exit code 1.
    """
    rule = None if fail_if is None else RULE.fullmatch(fail_if)
    if fail_if is not None and rule is None:
        raise WrongUse(f"--fail-if {fail_if!r} is not a condition; write it as in 'high < 0'")
    try:
        sides = [part_of(side) for side in (new, baseline)]
    except ValueError as error:
        raise WrongUse(str(error)) from error
    batch_ids = dict.fromkeys(side["batch"] for side in sides)
    batches = {batch_id: ts.batches.get(batch_id) for batch_id in batch_ids}
    first = batches[sides[0]["batch"]]
    margin = _margin(rule)
    report = _comparison(ts, first.metric, sides, by, margin)
    comparison = report.comparison
    counts = ((new, comparison.unpaired_new), (baseline, comparison.unpaired_baseline))
    none = [name for name, lines in counts if not lines]
    if none and not comparison.pairs and not comparison.undefined_new:
        output.say(f"nothing to compare: there is no result of {' and none of '.join(none)}")
        return REFUSED
    pairs = [_change(change) for change in comparison.changes]
    titles = {"new": new, "baseline": baseline, "difference": "new - baseline"}
    document = comparison.model_dump(mode="json", by_alias=True)
    output.document({**titles, **document, "changes": pairs[:BIGGEST]})
    if not output.is_json:
        output.line(f"the new batch is {new}; the baseline is {baseline}")
        address = urlencode({"baseline": baseline, "new": new})
        output.line(f"this comparison as a web page: /compare?{address}")
        output.line(comparison.decision)
        _show_comparison(comparison, pairs, output)
        if by is not None:
            output.line("")
            output.table((by, DIFFERENCE, "low", "high", "n"), list(_slices(comparison)))
    if rule is None:
        return DONE
    for batch_id, batch in batches.items():
        if batch.status != "completed":
            output.say(f"{batch_id} is {batch.status}, so lines may be missing: nothing is checked")
            return REFUSED
    return _judged(report, rule, margin, output)


def _margin(rule: re.Match[str] | None) -> float:
    """Return the largest loss that the rule accepts if it is about `low`, or 0."""
    return abs(float(rule[3])) if rule is not None and rule[1] == "low" else 0.0


def _comparison(
    ts: Touchstone, metric: str, sides: Sequence[dict[str, Any]], by: str | None, margin: float
) -> Any:
    """Return a report on the new side, with its comparison with the baseline. If `margin` is not
    0, the report plans how many texts would rule out this loss."""
    new, baseline = sides
    fields: Any = {**new, "against": baseline}
    fields |= {"by": [by]} if by is not None else {}
    fields |= {"plan": {"effect": margin}} if margin else {}
    with _by_errors(by):
        return ts.reports.make(metric, **fields)


@app.command
def plan(
    batch: str,
    /,
    *,
    against: Annotated[str | None, Parameter(metavar="BATCH")] = None,
    effect: float | None = None,
    beat_rate: float | None = None,
    power: float | None = None,
    alpha: float | None = None,
    ts: Client,
    output: Out,
) -> None:
    """Estimate how many texts and draws a study needs, from how much the results of a batch vary.

    Args:
        batch: Id of the batch.
        against: Also plan for the difference from this batch.
        effect: Smallest difference of mean scores that the study should detect, or largest loss
            that it should rule out.
        beat_rate: Share of random explanations that a good explanation beats, such as 0.98.
        power: Power: the probability of detecting the effect (default 0.8).
        alpha: Significance level of the tests (default 0.05).
    """
    if effect is None and beat_rate is None:
        raise WrongUse("no effect to detect is given; add --effect, --beat-rate or both")
    options = {"effect": effect, "beat_rate": beat_rate, "power": power, "alpha": alpha}
    target = {name: value for name, value in options.items() if value is not None}
    handle = ts.batches.get(batch)
    fields: Any = {"batch": batch, "plan": target}
    if against is not None:
        fields["against"] = {"batch": against}
    plan_of_report = ts.reports.make(handle.metric, **fields).plan
    output.document(plan_of_report)
    asked_for = plan_of_report.wanted
    how = f"power {asked_for.power:g} at alpha {asked_for.alpha:g}"
    for name, says in (("effect", "an effect of"), ("beat_rate", "a beat rate of")):
        if (value := getattr(asked_for, name)) is not None:
            output.line(f"to find {says} {value:g} with {how}")
    rows = [(says, getattr(plan_of_report, name)) for name, says in NEEDED.items()]
    output.table(("needed", "at least"), [row for row in rows if row[1] is not None])
    for warning in plan_of_report.warnings:
        output.say(f"warning: {warning}")


def _slices(comparison: Any) -> Iterator[tuple[Any, ...]]:
    for part in comparison.slices:
        gap = part.difference
        yield _value_name(part.by, part.value), gap.value, gap.low, gap.high, part.pairs


def _value_name(by: str, value: str) -> str:
    return language_name(value) if by == "language" else value


def _change(pair: Any) -> dict[str, Any]:
    """Return a pair with its custom id. If the two lines have no common custom id, use the ids of
    their jobs."""
    name = pair.custom_id or f"{pair.new_job}, {pair.baseline_job}"
    sides = {"new": pair.new, "baseline": pair.baseline}
    return {"custom_id": name, **sides, "difference": pair.difference}


def _show_comparison(comparison: Any, pairs: list[dict[str, Any]], output: Output) -> None:
    alone = (
        f"{comparison.unpaired_new} only in the new batch, "
        f"{comparison.unpaired_baseline} only in the baseline"
    )
    output.line(f"{comparison.pairs} lines are in both, {alone}")
    for difference in comparison.differences[:1]:
        if (texts := difference.difference.clusters) is not None:
            output.line(f"with a score in both: {difference.pairs} lines of {texts} texts")
    for what, lost, gained in _losses(comparison):
        output.line(f"{what}: {lost} lost, {gained} gained")
    rows = [
        (
            gap.component,
            *_ends(gap.difference)[:3],
            p_shown(gap.p_value),
            p_shown(gap.p_adjusted),
        )
        for gap in comparison.differences
    ]
    output.line("differences are new minus baseline: above 0, the new batch has more")
    output.table((DIFFERENCE, "difference", "low", "high", "p", "p by Holm"), rows)
    for gap in comparison.differences[:1]:
        wins = f"{gap.higher} higher and {gap.lower} lower in the new batch, {gap.equal} equal"
        output.line(f"{gap.component}: {wins}")
    if pairs:
        output.line("")
        changes = [tuple(pair.values()) for pair in pairs[:BIGGEST]]
        output.table(("biggest changes", "new", "baseline", DIFFERENCE), changes)
    for warning in comparison.warnings:
        output.say(f"warning: {warning}")


def _losses(comparison: Any) -> Iterator[tuple[str, int, int]]:
    """Yield (what, lost, gained) for scores and for verdicts other than `not_tested`. A lost one is
    in the baseline but not in the new batch."""
    yield "lines with a score", comparison.undefined_new, comparison.undefined_baseline
    verdicts = [(row.new, row.baseline, row.pairs) for row in comparison.verdicts or ()]
    lost, gained = (
        sum(pairs for *both, pairs in verdicts if both[side] == UNTESTED != both[1 - side])
        for side in (0, 1)
    )
    yield "lines with a tested verdict", lost, gained


def sign_p(lost: int, gained: int) -> float:
    """Return the exact one-sided p-value of a sign test. The alternative hypothesis is that more
    results are lost than gained."""
    n = lost + gained
    ways = math.lgamma(n + 1) - n * math.log(2)
    return sum(
        math.exp(ways - math.lgamma(k + 1) - math.lgamma(n - k + 1)) for k in range(lost, n + 1)
    )


def _judged(report: Any, rule: re.Match[str], margin: float, output: Output) -> int:
    """Return the exit status for `--fail-if`. It is WORSE if the rule is true for the score, or if
    the new batch loses significantly more scores than it gains. It is REFUSED if the tested value
    is undefined, else DONE."""
    comparison = report.comparison
    for what, lost, gained in _losses(comparison):
        if (p := sign_p(lost, gained)) <= ALPHA:
            output.say(
                f"{what}: the new batch lost {lost} of the baseline's and gained {gained}, more "
                f"than chance explains (one-sided sign test, p = {p_shown(p)}). `touchstone report "
                "NEW` says why lines have none."
            )
            return WORSE
    (score,) = [
        difference for difference in comparison.differences if difference.component == "score"
    ]
    if score.equal and score.equal == score.pairs:
        output.say(f"no change: all {score.pairs} scores are identical")
        return DONE
    name, sign, bound = rule.groups()
    ends = {"p": score.p_value, "difference": score.difference.value}
    value = ends[name] if name in ends else getattr(score.difference, name)
    if value is None:
        output.say(f"{name} is undefined: the condition of --fail-if cannot be checked")
        return REFUSED
    if not COMPARE[sign](value, float(bound)):
        return DONE
    output.say(f"{name} is {_notebook.number(value)}: {rule.group(0).strip()}")
    high, plan = score.difference.high, report.plan
    if margin and high is not None and high >= 0:
        needed = plan.compared_texts if plan is not None else None
        needs = "no number of texts can be planned" if needed is None else f"{needed} texts can"
        output.say(
            f"undecided: no loss is shown, but {score.difference.clusters} texts cannot rule out "
            f"a loss of {margin:g}; {needs}"
        )
    return WORSE
