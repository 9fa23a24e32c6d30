"""`report`, `compare` and `plan`: what many results say together, and how many it takes."""

from __future__ import annotations

import operator
import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from touchstone_client import _notebook
from touchstone_client._base import Result
from touchstone_client._languages import language_name
from touchstone_client._sync.client import Touchstone
from touchstone_client._wire import part_of
from touchstone_client.cli.output import DONE, REFUSED, WORSE, Output, WrongUse, has_ended
from touchstone_client.data.addresses import created
from touchstone_client.errors import BadRequest

WORST = 10
BIGGEST = 10
LEAST_P = 0.001  # a smaller p-value is shown as below it
RULE = re.compile(r"\s*(difference|low|high|p)\s*(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)\s*")
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
WANTED = ("effect", "beat_rate", "power", "alpha")
NEEDED = {
    "texts": "texts, for a mean score",
    "texts_upper": "texts, if scores spread as far as these few allow",
    "compared_texts": "texts, for the difference of the two",
    "compared_texts_upper": "texts, the same for the difference of the two",
    "draws": "draws, for one explanation",
    "one_sided_draws": "draws, for one explanation, one-sided",
}
CHANCE = ("control", "chance", "null", "share_beaten", "win_rate")  # what a report calls it


@dataclass
class Lines:
    """The scores of a batch's lines."""

    scores: dict[str, float | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    is_higher_better: bool = True

    @classmethod
    def of(cls, batch: Any) -> Lines:
        """Reads the output file, a line at a time."""
        made = cls()
        for line in batch.results():
            result = line.result
            if not isinstance(result, Result):
                continue
            made.scores[line.custom_id] = result.score
            made.reasons[line.custom_id] = f"{result.verdict}: {result.reason}"
            made.is_higher_better = result.direction != "lower_is_better"
        return made

    def worst(self) -> list[tuple[str, float, str]]:
        """(custom id, score, why), the worst first."""
        scored = [(id, score) for id, score in self.scores.items() if score is not None]
        scored.sort(key=lambda one: one[1], reverse=not self.is_higher_better)
        return [(id, score, self.reasons[id]) for id, score in scored[:WORST]]


@contextmanager
def target_of(asked: Namespace, output: Output) -> Iterator[Any]:
    """What takes bytes: the file of `--output`, or stdout."""
    if asked.output is not None:
        with created(asked.output) as stream:
            yield stream.write
    else:
        yield output.raw
        output.write("")


def report(ts: Touchstone, asked: Namespace, output: Output) -> int:
    """Sentence, parts, chance, worst lines, slices; or a file of them."""
    batch = ts.batches.get(asked.batch)
    if asked.against is not None:
        return _against(ts, asked, output)
    if asked.csv is not None:
        with created(asked.csv) as stream:
            stream.write(batch.items_csv().encode())
    elif asked.parquet is not None:
        if not has_ended(batch, output):
            return REFUSED
        count = batch.save(asked.parquet, form="parquet")
        output.say(f"{count} answers in {asked.parquet}")
    elif asked.html is not None:
        content = batch.report_html().encode()
        with created(asked.html) as stream:
            stream.write(content)
    elif asked.plot is not None:
        _plot(batch, asked, output)
    else:
        _numbers(ts, batch, asked, output)
    return DONE


def _against(ts: Touchstone, asked: Namespace, output: Output) -> int:
    if asked.csv or asked.html or asked.plot or asked.parquet:
        raise WrongUse("--against brings the numbers alone: leave out --plot, --html, --csv")
    first = ts.batches.get(asked.batch)
    ts.batches.get(asked.against)
    found = ts.reports.make(first.metric, batch=first.id, against={"batch": asked.against})
    with target_of(asked, output) as write:
        write(found.model_dump_json(by_alias=True, indent=2).encode() + b"\n")
    return DONE


def _plot(batch: Any, asked: Namespace, output: Output) -> None:
    if asked.output is None and asked.format == "png":
        raise WrongUse("a png goes into a file: give --output FILE.png")
    content = batch.plot(asked.plot, format=asked.format)
    with target_of(asked, output) as write:
        write(content)


def _numbers(ts: Touchstone, batch: Any, asked: Namespace, output: Output) -> None:
    found = batch.report() if asked.by is None else _split_report(ts, batch, asked.by)
    if output.is_json or asked.output is not None:
        with target_of(asked, output) as write:
            write(found.model_dump_json(by_alias=True, indent=2).encode() + b"\n")
        return
    output.line(getattr(found, "finding", "") or sentence_of(found))
    for reason, count in sorted(found.reasons.items(), key=lambda one: -one[1]):
        output.line(f"  {count} for {reason}")
    output.line("")
    titles = ("mean of", "value", "low", "high", "n", _notebook.NAMED)
    output.table(titles, _notebook.named(batch.metric, parts_in(found)))
    _show_without(found, output)
    if worth := what_it_can_tell(found.score):
        output.line(worth)
    if told := list(beside_people(found)):
        output.line("")
        output.table(("beside people", "value", "low", "high", "n"), told)
    if rows := Lines.of(batch).worst():
        output.line("")
        output.table(("worst lines", "score", "why"), rows)
    for split in getattr(found, "splits", ()):
        _show_split(split, output)
    _warn(found, output)


def _warn(found: Any, output: Output) -> None:
    """Of what the finding does not say already."""
    gold = getattr(found, "gold", None)
    said = getattr(found, "finding", "").lower()
    for one in (*found.warnings, *(() if gold is None else gold.warnings)):
        if one.lower() not in said:
            output.say(f"warning: {one}")


def _show_without(found: Any, output: Output) -> None:
    if rows := list(_notebook.parts_without(found)):
        output.line("")
        output.table(("results without", "undefined", "does not apply"), rows)


def _split_report(ts: Touchstone, batch: Any, by: str) -> Any:
    with _named(by):
        return ts.reports.make(batch.metric, batch=batch.id, by=[by])


@contextmanager
def _named(by: str | None) -> Iterator[None]:
    """What the service says against `--by` is a wrong use of the command."""
    try:
        yield
    except BadRequest as error:
        if any(fault.pointer.lstrip("#").startswith("/by") for fault in error.errors):
            raise WrongUse(f"--by {by!r}: {error.detail}") from error
        raise


def _show_split(split: Any, output: Output) -> None:
    """The mean of each value with its interval, and whether the values differ."""
    output.line("")
    rows = [
        (_value_name(split.by, one.value), *_ends(one.score), one.undefined) for one in split.values
    ]
    output.table((split.by, "mean score", "low", "high", "n", "undefined"), rows)
    if split.without:
        output.line(f"{split.without} lines say nothing of {split.by}")
    if split.p_value is not None:
        output.line(f"that all means are equal: p = {p_shown(split.p_value)}")
    for one in split.warnings:
        output.say(f"warning: {one}")


def sentence_of(found: Any) -> str:
    """How many could be scored, and what their mean is: of a service that gives no finding."""
    defined = found.scored - found.undefined
    said = f"{defined} of {found.scored} explanations could be scored"
    if found.undefined:
        said += f", {found.undefined} ({found.undefined / found.scored:.0%}) are undefined"
    if found.score.value is None:
        return f"{said}."
    low, high = found.score.low, found.score.high
    bounds = "" if low is None or high is None else f" (95 % interval {low:.3f} to {high:.3f})"
    if found.confidence != 0.95:
        bounds = bounds.replace("95 %", f"{found.confidence:.0%}")
    return f"{said}. Their mean score is {found.score.value:.3f}{bounds}."


def what_it_can_tell(mean: Any) -> str:
    """Return how many independent lines the mean rests on, and the difference that they find."""
    sentences = []
    if (count := getattr(mean, "effective", None)) is not None and mean.of:
        independent = f"{count:.1f}".removesuffix(".0")
        sentences.append(
            f"The score rests on {mean.of} lines, worth {independent} independent texts."
        )
    if (least := getattr(mean, "detectable", None)) is not None:
        size = f"{least:.3f}" if least >= 0.001 else f"{least:.1e}"
        sentences.append(f"A true difference of {size} or more is found in 80 % of studies.")
    return " ".join(sentences)


def p_shown(value: float | None) -> str | None:
    """Of a p-value, which is never 0, as the pages show it: three decimals."""
    if value is None:
        return None
    if value < LEAST_P:
        return f"< {LEAST_P}"
    return f"{value:.3f}"


def beside_people(found: Any) -> Iterator[tuple[Any, ...]]:
    """What gold labels, marked passages and ratings of the lines say of the results."""
    gold = getattr(found, "gold", None)
    for group in ("labels", "rationales", "ratings"):
        figures = getattr(gold, group, None)
        for one in (figures, getattr(figures, "threshold", None)):
            for name in type(one).model_fields if one is not None else ():
                if _is_interval(value := getattr(one, name)) and value.value is not None:
                    yield (name.replace("_", " "), *_ends(value))


def _is_interval(one: Any) -> bool:
    return hasattr(one, "value") and hasattr(one, "of")


def parts_in(found: Any) -> Iterator[tuple[Any, ...]]:
    """The score, its parts, and what chance would do, where the report says it; of answers that
    have no score of their own, the mean of each metric that scored them."""
    means = getattr(found, "scores", None)
    if means is None:
        yield ("score", *_ends(found.score))
    for mean in means or ():
        yield (mean.metric, *_ends(mean.score))
    for name, one in _notebook.part_means(found):
        yield (name, *_ends(one))
    for name in CHANCE:
        for whose, one in _by_decision(found, name):
            if _is_interval(one):
                yield (f"chance: {name.replace('_', ' ')}{whose}", *_ends(one))


def _by_decision(found: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Whose number it is, and the number: what is high for one decision is low for another, so
    that both together are the mix of the labels."""
    means = getattr(found, "by_decision", None)
    if not means or not hasattr(next(iter(means.values())), name):
        yield "", getattr(found, name, None)
        return
    for decision, own in means.items():
        yield f", {decision}", getattr(own, name)


def _ends(one: Any) -> tuple[Any, ...]:
    return one.value, one.low, one.high, one.of


def compare(ts: Touchstone, asked: Namespace, output: Output) -> int:
    """The new one minus the baseline, text by text."""
    rule = None if asked.fail_if is None else RULE.fullmatch(asked.fail_if)
    if asked.fail_if is not None and rule is None:
        raise WrongUse(f"--fail-if {asked.fail_if!r} is no rule, as in 'high < 0'")
    try:
        sides = [part_of(one) for one in (asked.a, asked.b)]
    except ValueError as error:
        raise WrongUse(str(error)) from error
    named = dict.fromkeys(one["batch"] for one in sides)
    batches = {one: ts.batches.get(one) for one in named}
    first = batches[sides[0]["batch"]]
    found = _comparison(ts, first.metric, sides, asked.by)
    if empty := _without_lines(found, asked):
        output.say(empty)
        return REFUSED
    pairs = [_change(one) for one in found.changes]
    titles = {"a": asked.a, "b": asked.b, "difference": "a - b"}
    told = found.model_dump(mode="json", by_alias=True)
    output.document({**titles, **told, "changes": pairs[:BIGGEST]})
    if not output.is_json:
        output.line(f"A, the new one, is {asked.a}; B, the baseline, is {asked.b}")
        output.line(
            f"the same as a page: /compare?{urlencode({'left': asked.b, 'right': asked.a})}"
        )
        output.line(in_words(found, is_higher_better=_is_higher_better(first)))
        _show_comparison(found, pairs, output)
        if asked.by is not None:
            output.line("")
            output.table((asked.by, "A - B", "low", "high", "n"), list(_slices(found)))
    return _judged(found, rule, output)


def _comparison(
    ts: Touchstone, metric: str, sides: Sequence[dict[str, Any]], by: str | None
) -> Any:
    """Of the first with the second, whose batches are known."""
    new, baseline = sides
    with _named(by):
        fields: Any = {**new, "against": baseline, **({} if by is None else {"by": [by]})}
        return ts.reports.make(metric, **fields).comparison


def _without_lines(found: Any, asked: Namespace) -> str:
    """Why there is nothing to compare: a side without a result; empty where there is none."""
    if found.pairs:
        return ""
    counts = ((asked.a, found.unpaired_a), (asked.b, found.unpaired_b))
    none = [named for named, lines in counts if not lines]
    return f"nothing to compare: no result of {' and none of '.join(none)}" if none else ""


def plan(ts: Touchstone, asked: Namespace, output: Output) -> int:
    """Texts and draws that find an effect, if further texts vary as those of the batch do."""
    if asked.effect is None and asked.beat_rate is None:
        raise WrongUse("what is to be found? give --effect, --beat-rate or both")
    batch = ts.batches.get(asked.batch)
    wanted = {name: getattr(asked, name) for name in WANTED if getattr(asked, name) is not None}
    fields: Any = {"batch": batch.id, "plan": wanted}
    if asked.against is not None:
        fields["against"] = {"batch": asked.against}
    found = ts.reports.make(batch.metric, **fields).plan
    output.document(found)
    asked_for = found.wanted
    how = f"power {asked_for.power:g} at alpha {asked_for.alpha:g}"
    for name, says in (("effect", "an effect of"), ("beat_rate", "a beat rate of")):
        if (value := getattr(asked_for, name)) is not None:
            output.line(f"to find {says} {value:g} with {how}")
    rows = [(says, getattr(found, name)) for name, says in NEEDED.items()]
    output.table(("needed", "at least"), [row for row in rows if row[1] is not None])
    for one in found.warnings:
        output.say(f"warning: {one}")
    return DONE


def _slices(found: Any) -> Iterator[tuple[Any, ...]]:
    for one in found.slices:
        gap = one.difference
        yield _value_name(one.by, one.value), gap.value, gap.low, gap.high, one.pairs


def _value_name(by: str, value: str) -> str:
    return language_name(value) if by == "language" else value


def _is_higher_better(batch: Any) -> bool:
    """As its first result says."""
    for line in batch.results():
        if isinstance(line.result, Result):
            return bool(line.result.direction != "lower_is_better")
    return True


def _change(found: Any) -> dict[str, Any]:
    """A pair: its custom id, or the jobs of pairs that have none in common."""
    name = found.custom_id or f"{found.first_job}, {found.second_job}"
    return {"custom_id": name, "a": found.first, "b": found.second, "difference": found.difference}


def in_words(found: Any, *, is_higher_better: bool) -> str:
    """Which explains better: told only where the interval excludes 0, as the page tells it."""
    gap = found.differences[0].difference
    if gap.value is None:
        return "no text has a score in both"
    if gap.low is None or gap.high is None or gap.low <= 0 <= gap.high:
        return "it cannot be told which explains better"
    better, other = ("A", "B") if (gap.value > 0) == is_higher_better else ("B", "A")
    return f"{better} explains better than {other} by {abs(gap.value):.3f}"


def _show_comparison(found: Any, pairs: list[dict[str, Any]], output: Output) -> None:
    alone = f"{found.unpaired_a} only in A, {found.unpaired_b} only in B"
    output.line(f"{found.pairs} lines in both, {alone}")
    for one in found.differences[:1]:
        if (texts := one.difference.clusters) is not None:
            output.line(f"scored in both: {one.pairs} lines of {texts} texts")
    rows = [
        (one.component, *_ends(one.difference)[:3], p_shown(one.p_value), p_shown(one.p_adjusted))
        for one in found.differences
    ]
    output.line("differences are A minus B: above 0, A has more")
    output.table(("A - B", "difference", "low", "high", "p", "p by Holm"), rows)
    for one in found.differences[:1]:
        wins = f"{one.better} higher in A, {one.worse} higher in B, {one.equal} equal"
        output.line(f"{one.component}: {wins}")
    if pairs:
        output.line("")
        changes = [tuple(one.values()) for one in pairs[:BIGGEST]]
        output.table(("biggest changes", "A", "B", "A - B"), changes)
    for one in found.warnings:
        output.say(f"warning: {one}")


def _judged(found: Any, rule: re.Match[str] | None, output: Output) -> int:
    """Return WORSE if the rule of `--fail-if` holds of the score, REFUSED if it is undecided."""
    if rule is None:
        return DONE
    (score,) = [one for one in found.differences if one.component == "score"]
    if score.equal and score.equal == score.pairs:
        output.say(f"no change: all {score.pairs} scores are identical")
        return DONE
    name, sign, bound = rule.groups()
    ends = {"p": score.p_value, "difference": score.difference.value}
    value = ends[name] if name in ends else getattr(score.difference, name)
    if value is None:
        output.say(f"{name} is undefined: the rule cannot be decided")
        return REFUSED
    if not COMPARE[sign](value, float(bound)):
        return DONE
    output.say(f"{name} is {_notebook.number(value)}: {rule.group(0).strip()}")
    margin, high = abs(float(bound)), score.difference.high
    if name == "low" and margin and high is not None and high >= 0:
        output.say(
            f"no loss is shown, but {score.pairs} texts cannot rule out one of {margin:g}: "
            f"`touchstone plan NEW --against BASELINE --effect {margin:g}` says how many can"
        )
    return WORSE
