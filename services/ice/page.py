"""The page of an ICE job: a verdict for each test, charts of null distributions, and heat maps of
the explanations. Without token values, only the marked spans are outlined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import get_args

from services.ice.contract import IceRequest, MethodName
from services.ice.quotations import locate
from services.ice.report import (
    IceCausalReading,
    IceComparison,
    IceRationaleEvidence,
    IceResult,
    IceTest,
    IceTokenValues,
    Of,
    TestedOperator,
)
from services.ice.verdict import (
    READINGS,
    Verdict,
    alpha,
    by_probability,
    score_text,
    sentence,
    verdict,
)
from shared.contracts.calls import Template
from shared.reports.charts.engine import Caption, Chart
from shared.reports.charts.shapes import histogram
from shared.reports.pages.page_text import (
    Mark,
    MarkedText,
    TokenRun,
    Warm,
    level,
    pieces,
    runs,
    significant,
    stretches,
)
from shared.reports.pages.report_design import (
    BAD,
    GOOD,
    NEUTRAL,
    NONE,
    Block,
    Record,
    forest,
    histogram_bars,
    integer,
    record,
    records,
    stacked_bar,
)

TEMPLATE = "ice/page.html"
DETAILS = {"options": {"token_values": True}}  # fields of a request that only the page needs

MOST_ROWS = 40  # of a table; what is left out is said, and stands in the job's JSON
OWN_NAMES = frozenset({*get_args(MethodName), "attributions", "rationale"})  # all others: callers


@dataclass(frozen=True)
class IceComparisonRow:
    """A comparison of two explanations, with reasons if the difference is null."""

    row: IceComparison
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class IceView:
    text_kept: bool
    says: str | None  # what the score is, and what chance would have; None without one
    by_probability: bool  # what the variant compares; else NSR
    told: tuple[TestView, ...]
    first: tuple[TestView, ...]  # the first explanation at the first budget, one an operator
    others: tuple[TestView, ...]  # with pictures: folded
    readings: tuple[ReadingView, ...]
    readings_left_out: int
    compared: tuple[IceComparisonRow, ...]
    compared_left_out: int
    maps: tuple[Heatmap, ...]
    explanations_left_out: int
    values_told: bool  # whether the job asked for `token_values`
    human: tuple[Marked, ...]
    template: Template | None
    alpha: float | None
    settings: list[tuple[str, str]]
    most_rows: int = MOST_ROWS
    own_names: frozenset[str] = OWN_NAMES  # of explanations, by us

    @property
    def tests(self) -> tuple[TestView, ...]:
        """Return the tests that the tables show."""
        return self.told[:MOST_ROWS]

    @property
    def tests_left_out(self) -> int:
        """Return the number of tests that the page leaves out."""
        return len(self.told) - len(self.tests)

    def verdicts(self, explanation: str) -> str:
        """Return the verdicts on an explanation in a few words, one per operator. Only the size and
        aspect of its first test are included."""
        tests = [entry for entry in self.told if entry.test.explanation == explanation]
        words = {
            entry.test.operator: entry.verdict.text[:1].lower() + entry.verdict.text[1:]
            for entry in tests
            if (entry.test.k, entry.test.aspect) == (tests[0].test.k, tests[0].test.aspect)
        }
        return ", ".join(f"{word} ({operator})" for operator, word in words.items())


def view(request: IceRequest | None, report: IceResult) -> IceView:
    """Return the data for the result page of ICE. `request` is None if the text was not stored."""
    tests = test_views(report)
    first = tuple(entry for entry in tests if _trial(entry) == _trial(tests[0]))
    compared = report.components.comparisons
    shown = maps(request, report)
    return IceView(
        text_kept=request is not None,
        says=score_text(report),
        by_probability=by_probability(report),
        told=tests,
        first=first,
        others=tuple(entry for entry in tests if entry not in first and entry.chart is not None),
        readings=tuple(islice(_readings(report), MOST_ROWS)),
        readings_left_out=max(0, len(report.components.readings) - MOST_ROWS),
        compared=tuple(_pair_row(report, row) for row in compared[:MOST_ROWS]),
        compared_left_out=max(0, len(compared) - MOST_ROWS),
        maps=shown,
        explanations_left_out=len({entry.test.explanation for entry in tests}) - len(shown),
        values_told=bool(report.token_values),
        human=human(request),
        template=None if request is None else request.options.template,
        alpha=alpha(report),
        settings=_settings(report),
    )


def _trial(entry: TestView) -> tuple[str, float | None]:
    return entry.test.explanation, entry.test.k


def _readings(report: IceResult) -> Iterator[ReadingView]:
    tests = {(t.explanation, t.k, t.operator, t.aspect): t for t in report.components.tests}
    for row in report.components.readings:
        about = row.explanation, row.k, row.operator
        sides = (tests[*about, "sufficiency"], tests[*about, "necessity"])
        yield ReadingView(row, READINGS[row.reading], *sides)


def _pair_row(report: IceResult, row: IceComparison) -> IceComparisonRow:
    start = f"{row.first} and {row.second}, k {row.k}: "
    return IceComparisonRow(
        row,
        tuple(
            warning.removeprefix(start) for warning in report.warnings if warning.startswith(start)
        ),
    )


def _settings(report: IceResult) -> list[tuple[str, str]]:
    named = report.provenance.parameters
    names = (
        "rows", "mask_text", "rank_by", "eligible", "draws", "alternative", "stop", "infills",
        "nsr_epsilon",
    )  # fmt: skip
    return [(name, str(named[name])) for name in names if name in named]


MOST_CHARTS = 8  # pictures of a page; the numbers of all other tests are in its tables

OPERATORS: dict[TestedOperator, str] = {  # {unit}: token or word
    "delete": "the other {unit}s deleted",
    "mask": "the other {unit}s masked",
    "mask_unk": "the other {unit}s replaced by the unknown token",
    "mask_pad": "the other {unit}s replaced by padding",
    "infill": "the other {unit}s replaced by {unit}s of other texts",
    "mean": "the mean over all operators",
}
REMOVALS: dict[TestedOperator, str] = {
    "delete": "the {unit}s of the rationale deleted",
    "mask": "the {unit}s of the rationale masked",
    "mask_unk": "the {unit}s of the rationale replaced by the unknown token",
    "mask_pad": "the {unit}s of the rationale replaced by padding",
    "infill": "the {unit}s of the rationale replaced by {unit}s of other texts",
    "mean": "the mean over all operators",
}


@dataclass(frozen=True)
class ReadingView:
    """A sentence about sufficiency and necessity together, with both tests."""

    row: IceCausalReading
    says: str
    sufficiency: IceTest
    necessity: IceTest


@dataclass(frozen=True)
class TestView:
    test: IceTest
    verdict: Verdict
    sentence: str
    rivals: str  # what the rationale was compared with
    reasons: tuple[str, ...]  # why something is null, out of the report's warnings
    operator: str  # what was done to the other tokens or words
    chart: Chart | None = None


def test_views(report: IceResult) -> tuple[TestView, ...]:
    """Return every test in the order of the report. Only the first tests have charts."""
    return tuple(
        TestView(
            test=test,
            verdict=verdict(report, test),
            sentence=sentence(report, test),
            rivals=_null_text(report, test),
            reasons=tuple(_reasons(report, test)),
            operator=_operator(report, test),
            chart=_chart(report, test, index + 1) if index < MOST_CHARTS else None,
        )
        for index, test in enumerate(report.components.tests)
    )


def _operator(report: IceResult, test: IceTest) -> str:
    done = REMOVALS if test.aspect == "necessity" else OPERATORS
    return done[test.operator].format(unit=report.unit)


def _null_text(report: IceResult, test: IceTest) -> str:
    tokens = f"{test.tokens} {report.unit}{'' if test.tokens == 1 else 's'}"
    if test.null.exact:
        return f"all {test.null.draws} other rationales of {tokens} (an exact test)"
    return f"{test.null.draws} random rationales of {tokens}"


def _reasons(report: IceResult, test: IceTest) -> Iterator[str]:
    start = f"{test.title}: "
    for warning in report.warnings:
        if warning.startswith(start):
            yield warning.removeprefix(start)


def observed(report: IceResult, test: IceTest) -> float | None:
    """Return the test's observed value on the scale of the chart of random token sets, or None if
    it is undefined."""
    if not by_probability(report):
        return test.nsr
    if test.aspect == "necessity":
        return test.drop
    return None if test.scores is None else test.scores.rationale


def _chart(report: IceResult, test: IceTest, number: int) -> Chart | None:
    """Return the chart of test number `number`. Return None without a null distribution, or for an
    old result without a histogram."""
    counted, score = test.null.histogram, observed(report, test)
    if counted is None or score is None:
        return None
    caption = Caption(
        title=f"Random rationales of test {number}, {_operator(report, test)}",
        summary=_summary(report, test, score),
        unit=_unit(report, test),
    )
    return histogram(counted, score, caption)


def _unit(report: IceResult, test: IceTest) -> str:
    if not by_probability(report):
        return "NSR"
    lost = "lost " if test.aspect == "necessity" else ""
    return f"{lost}probability of the target label"


def _summary(report: IceResult, test: IceTest, score: float) -> str:
    null = test.null
    if null.histogram is None:
        return ""
    low, high = significant(null.histogram.low), significant(null.histogram.high)
    return (
        f"Range of {_null_text(report, test)}: {low} to {high}, with a mean of "
        f"{significant(null.mean)}. The rationale scores {significant(score)}. Its win rate is "
        f"{significant(test.win_rate)}. By chance it would be 0.5."
    )


MOST_MAPS = 6  # explanations shown in the text; the others are in the tables
MOST_STRETCHES = 1_600  # coloured or outlined elements of a page: about 60 kB
STRONGEST = 10  # tokens listed
MOST_SPANS = 20  # of a rationale, listed

NAMES: dict[Of, str] = {"text": "Text", "text_pair": "Text pair"}


@dataclass(frozen=True)
class HeatPassage:
    """The part of a text that the model reads, with the values of an explanation."""

    name: str
    runs: tuple[TokenRun, ...]
    unread: int  # characters behind those that the model reads

    @property
    def text(self) -> str:
        """The part of the text that the model reads."""
        return "".join(stretch.text for run in self.runs for stretch in run.stretches)


@dataclass(frozen=True)
class TopToken:
    """A token and its value in an explanation."""

    where: str
    text: str | None  # None: not kept
    value: float
    inside: bool  # the rationale


@dataclass(frozen=True)
class Heatmap:
    """One explanation in the text. `passages` is empty if the text was not stored."""

    explanation: str
    largest: float | None  # magnitude of the deepest colour; None: no values to colour
    passages: tuple[HeatPassage, ...]
    strongest: tuple[TopToken, ...]
    spans: tuple[IceRationaleEvidence, ...]
    more_spans: int
    unplaced: int  # tokens of the rationale that are the template's
    pale: bool = False  # the values are there, but the page has colours enough


@dataclass(frozen=True)
class Marked:
    """A text with the spans that people marked."""

    name: str
    pieces: list[MarkedText]


def texts(request: IceRequest | None) -> dict[Of, str]:
    """Return the judged texts, or {} if they were not stored."""
    if request is None:
        return {}
    pair: dict[Of, str] = {} if request.text_pair is None else {"text_pair": request.text_pair}
    return {"text": request.text, **pair}


def human(request: IceRequest | None) -> tuple[Marked, ...]:
    """Return the texts with the spans that people marked."""
    if request is None or not request.human:
        return ()
    return tuple(
        Marked(NAMES[of], pieces(text, _human_marks(request, of)))
        for of, text in texts(request).items()
    )


def _human_marks(request: IceRequest, of: Of) -> list[Mark]:
    return [
        Mark(span.start, span.end, "human", "marked by people")
        for span in locate(request.human or (), request)
        if span.of == of
    ]


def maps(request: IceRequest | None, report: IceResult) -> tuple[Heatmap, ...]:
    """Return heat maps of the first MOST_MAPS explanations, in the order of the tests. Maps beyond
    the page's size limit have no colours."""
    names = dict.fromkeys(test.explanation for test in report.components.tests)
    values = {entry.explanation: entry for entry in report.token_values}
    heatmaps: list[Heatmap] = []
    spent = 0
    for name in list(names)[:MOST_MAPS]:
        heatmap = _map(request, report, name, values.get(name))
        weight = _weight(heatmap)
        if spent + weight > MOST_STRETCHES and heatmap.largest is not None:
            heatmap = replace(
                _map(request, report, name, None),
                strongest=heatmap.strongest,
                unplaced=heatmap.unplaced,
                pale=True,
            )
            weight = _weight(heatmap)
        spent += weight
        heatmaps.append(heatmap)
    return tuple(heatmaps)


def heatmap_of(request: IceRequest, report: IceResult) -> tuple[TokenRun, ...]:
    """Return the text with the token values of the first explanation, or () without values."""
    coloured = (
        drawn for drawn in maps(request, report) if drawn.largest is not None and drawn.passages
    )
    return next((drawn.passages[0].runs for drawn in coloured), ())


def _weight(heatmap: Heatmap) -> int:
    return sum(stretches(passage.runs) for passage in heatmap.passages)


def _map(
    request: IceRequest | None, report: IceResult, name: str, explained: IceTokenValues | None
) -> Heatmap:
    spans = [span for span in report.evidence if span.explanation == name]
    magnitudes = (
        [abs(value) for value in explained.values if value is not None] if explained else []
    )
    largest = max(magnitudes, default=None)
    return Heatmap(
        explanation=name,
        largest=largest,
        passages=tuple(
            _passage(report, of, text, list(_color_tokens(report, of, explained, spans)))
            for of, text in texts(request).items()
        ),
        strongest=tuple(_top_tokens(texts(request), report, explained)),
        spans=tuple(spans[:MOST_SPANS]),
        more_spans=max(0, len(spans) - MOST_SPANS),
        unplaced=sum(report.tokens[index].of == "template" for index in explained.rationale)
        if explained
        else 0,
    )


def _passage(report: IceResult, of: Of, text: str, tokens: Sequence[Warm]) -> HeatPassage:
    read = report.characters_read[0 if of == "text" else 1]
    return HeatPassage(NAMES[of], runs(text[:read], tokens), len(text[read:].rstrip()))


def _color_tokens(
    report: IceResult,
    of: Of,
    explained: IceTokenValues | None,
    spans: Iterable[IceRationaleEvidence],
) -> Iterator[Warm]:
    """Yield the tokens of a text, each with a highlight for its value. Without values, yield the
    spans of the rationale as outlines."""
    if explained is None:
        for span in spans:
            if span.offsets_into == of and span.start is not None and span.end is not None:
                yield Warm(span.start, span.end, outlined=True)
        return
    inside = set(explained.rationale)
    largest = max((abs(value) for value in explained.values if value is not None), default=0.0)
    for index, (token, value) in enumerate(zip(report.tokens, explained.values, strict=True)):
        if token.of == of and token.start is not None and token.end is not None:
            yield Warm(token.start, token.end, level(value, largest), index in inside)


def _top_tokens(
    kept_texts: dict[Of, str], report: IceResult, explained: IceTokenValues | None
) -> Iterator[TopToken]:
    """Yield the tokens with the largest magnitude. On ties, the first in the text comes first."""
    if explained is None:
        return
    nonzero = [(index, value) for index, value in enumerate(explained.values) if value]
    inside = set(explained.rationale)
    for index, value in sorted(nonzero, key=lambda pair: -abs(pair[1]))[:STRONGEST]:
        token = report.tokens[index]
        if token.of not in ("text", "text_pair"):
            yield TopToken("the template", None, value, index in inside)
            continue
        text = kept_texts.get(token.of)
        yield TopToken(
            where=f"{NAMES[token.of].lower()}, {token.start}–{token.end}",
            text=None if text is None else text[token.start : token.end],
            value=value,
            inside=index in inside,
        )


CHANCE = 0.5  # win rate of who knows nothing
WORDS = {"undecidable": "too few draws to tell"}  # a verdict's words
REMOVED = {
    "delete": "deleted",
    "mask": "masked",
    "mask_unk": "replaced by the unknown token",
    "mask_pad": "replaced by padding",
    "infill": "replaced by words of other texts",
    "mean": "removed: the mean over the operators",
}
TONES = {
    "faithful": GOOD,
    "inconclusive": NEUTRAL,
    "anti-faithful": BAD,
    "undecidable": NONE,
}
VERDICTS = tuple(TONES)


def design(report: Record) -> Iterator[Block]:
    """Yield the charts of a batch report."""
    listed = records(report, "configurations")
    models = {record(entry, "configuration").get("model") for entry in listed}
    named = {_configuration(entry, with_model=len(models) > 1): entry for entry in listed}
    for number, (name, entry) in enumerate(named.items()):
        yield histogram_bars(
            f"Random explanations beaten: {name}", record(entry, "win_rates"), "tests",
            mark=(CHANCE, "win rate expected by chance (½)"), number=number,
            part="win_rate" if entry.get("leads") else "",
        )  # fmt: skip
        verdicts = record(entry, "verdicts")
        counted = {WORDS.get(word, word): integer(verdicts, word) for word in VERDICTS}
        tones = {WORDS.get(word, word): TONES[word] for word in VERDICTS}
        yield replace(stacked_bar(f"Single tests: {name}", counted, tones=tones), number=number)
    rates = {name: record(entry, "win_rate") for name, entry in named.items()}
    yield forest("Random explanations beaten, by configuration", rates, level=0.5)
    for number, (name, entry) in enumerate(named.items()):
        p_values = record(entry, "p_values")
        yield histogram_bars(
            f"p-values of single tests: {name}", {**p_values, "low": 0.0, "high": 1.0}, "p-values",
            expected=p_values.get("expected"), note=_least_p(record(entry, "over_examples")),
            number=number,
        )  # fmt: skip


def _least_p(summary: Record) -> str:
    least, alpha = summary.get("least_p"), summary.get("alpha")
    if not isinstance(least, float) or not isinstance(alpha, float):
        return ""
    message = f"The smallest possible p-value with these draws is {least:.3g}."
    return (
        f"{message} This is above {alpha:.3g}, so more draws are needed."
        if least > alpha
        else message
    )


def _configuration(entry: Record, *, with_model: bool) -> str:
    """Describe a configuration in words: which part of the text is kept, and how the rest is
    removed."""
    parts = record(entry, "configuration")
    rows, name = parts.get("rows") or "tokens", parts.get("explanation")
    share = parts.get("k")
    named = f"The {rows} of {name}"  # spans have no budget
    if isinstance(share, int | float):
        named = f"Top {significant(100 * share)} % of the {rows} by {name}"
    operator = str(parts.get("operator"))
    removed = REMOVED.get(operator, operator)
    phrases = [f"{named}, {'' if parts.get('aspect') == 'necessity' else 'all others '}{removed}"]
    if with_model:
        phrases.append(str(parts.get("model")))
    if parts.get("variant") not in (None, "robust"):
        phrases.append(f"variant {parts['variant']}")
    return "; ".join(phrases)
