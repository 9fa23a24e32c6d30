"""The page of a HAF job: the verdict, cards for reasons and decisions, the stages, and the six
metrics. The number of marked tokens is limited, so a table lists the most relevant ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.haf import verdict as words
from services.haf.contract import HafRequest
from services.haf.report import (
    UNNAMED,
    HafDecisionPart,
    HafReasonPart,
    HafResult,
    HafStagePart,
    HafTokenValue,
    Stage,
)
from shared.reports.charts.engine import Chart
from shared.reports.charts.shapes import MOST, matrix
from shared.reports.pages.page_text import Mark, MarkedText, Warm, counted, pieces, runs
from shared.reports.pages.report_design import (
    Block,
    CountBars,
    Pair,
    Record,
    count_bars,
    facet_filters,
    forest,
    integer,
    record,
    records,
    stacked_bar,
)

NAMELESS = (None, "", UNNAMED)
STEPS = 5  # of relevance, against the statement's most relevant token
UNSURE = (0.9, 0.5, 0.1)  # below each of these probabilities the underline grows
STRONGEST = 10  # tokens listed
MOST_STRETCHES = 2_500  # coloured elements of a page: about 120 kB

Part = HafReasonPart | HafDecisionPart


@dataclass(frozen=True, slots=True)
class WeightedToken:
    """A token with a large weight in a confidence value."""

    text: str
    probability: float
    relevance: float
    weight: float  # its share of the statement's relevance (Eq. 2)


@dataclass(frozen=True, slots=True)
class StatementCard:
    """A reason or a decision. `heaviest` has its most relevant tokens, if they were requested."""

    text: list[MarkedText]
    part: Part
    heaviest: tuple[WeightedToken, ...]
    pale: bool = False  # the values are there, but the page has colours enough


@dataclass(frozen=True, slots=True)
class ResponseCards:
    """A response: its reasons in order, and its decision if it has one."""

    part: HafStagePart
    reasons: tuple[StatementCard, ...]
    decision: StatementCard | None


def response_cards(stages: Sequence[HafStagePart]) -> tuple[ResponseCards, ...]:
    """Return the cards of each response, one per reason and one for the decision. Tokens are
    coloured until the page reaches its limit on highlights."""
    cards: list[ResponseCards] = []
    left = MOST_STRETCHES
    for stage in stages:
        statements: list[StatementCard] = []
        parts: list[Part] = [*stage.reasons]
        parts += [stage.decision] if stage.decision else []
        for part in parts:
            statements.append(_statement(part, left))
            left -= _weight(statements[-1].text)
        count = len(stage.reasons)
        cards.append(
            ResponseCards(
                stage, tuple(statements[:count]), statements[count] if statements[count:] else None
            )
        )
    return tuple(cards)


def in_response(stage: HafStagePart) -> list[MarkedText]:
    """Return the whole response, with its decision and its reasons marked."""
    numbered = [
        (f"reason {number}", "reason", part) for number, part in enumerate(stage.reasons, 1)
    ]
    parts: list[tuple[str, str, Part]] = [*numbered]
    if stage.decision is not None:
        parts.append(("decision", "decision", stage.decision))
    return pieces(
        stage.response,
        [
            Mark(part.start, part.end, kind, label)
            for label, kind, part in parts
            if part.start is not None and part.end is not None
        ],
    )


def _statement(part: Part, left: int) -> StatementCard:
    coloured = StatementCard(pieces(part.text, _marks(part)), part, _top_tokens(part))
    if _weight(coloured.text) <= left:
        return coloured
    return replace(coloured, text=pieces(part.text, []), pale=True)


def _weight(text: Sequence[MarkedText]) -> int:
    return sum(bool(piece.marks) for piece in text)


def _top_tokens(part: Part) -> tuple[WeightedToken, ...]:
    """Return the tokens with the largest weights in a statement's confidence, or an empty tuple if
    the text was not stored."""
    if not part.text or part.start is None:
        return ()
    total = sum(token.relevance for token in part.token_values)
    return tuple(
        WeightedToken(
            part.text[slice(*_span(part.start, token))],
            math.exp(token.logprob),
            token.relevance,
            token.relevance / total,
        )
        for token in _sort_tokens(part)[:STRONGEST]
    )


def _sort_tokens(part: Part) -> list[HafTokenValue]:
    """Return the tokens with relevance above 0, the most relevant first. Ties keep the order of the
    text."""
    some = [token for token in part.token_values if token.relevance > 0]
    return sorted(some, key=lambda token: (-token.relevance, token.start))


def _marks(part: Part) -> Iterator[Mark]:
    """Yield marks for relevance, for probability, and for the most relevant token. The marks have
    no labels, because a table shows the values."""
    if part.start is None:
        return
    first = _sort_tokens(part)[:1]
    largest = first[0].relevance if first else 0.0
    yield from _merge_marks(
        part,
        "weight",
        lambda token: math.ceil(STEPS * (token.relevance / largest)) if largest else 0,
    )
    yield from _merge_marks(
        part, "unsure", lambda token: sum(math.exp(token.logprob) < border for border in UNSURE)
    )
    for token in first:
        yield Mark(*_span(part.start, token), "most")


def _merge_marks(part: Part, kind: str, step: Callable[[HafTokenValue], int]) -> Iterator[Mark]:
    """Merge neighbouring tokens of the same level into one mark. Level 0 has no mark."""
    tokens = (Warm(*_span(part.start or 0, token), step(token)) for token in part.token_values)
    end = 0
    for run in runs(part.text, tokens):
        for stretch in run.stretches:
            start, end = end, end + len(stretch.text)
            if stretch.level:
                yield Mark(start, end, f"{kind}-{stretch.level}")


def _span(start: int, token: HafTokenValue) -> tuple[int, int]:
    return max(0, token.start - start), max(0, token.end - start)


INDIVIDUAL: tuple[Stage, ...] = ("sufficiency", "necessity")


@dataclass(frozen=True, slots=True)
class DecisionSentence:
    """The sentence of a response that answers a HAF stage, and the answer read from it. `tone` is
    good if the model stands by its reasons, bad if not, else neutral."""

    statement: StatementCard
    part: HafDecisionPart
    answer: str
    tone: str
    judge: str


@dataclass(frozen=True, slots=True)
class ResponseCard:
    """One response. `about` is the number of the first-stage reason that it concerns, from 1."""

    about: int | None
    part: HafStagePart
    decided: DecisionSentence | None
    cards: tuple[StatementCard, ...]
    response: list[MarkedText]


@dataclass(frozen=True, slots=True)
class StageStep:
    """One stage (question) of the HAF conversation. `absent` is the reason for a missing answer, or
    empty. `leads_to` names the metrics that use the answer."""

    stage: Stage
    title: str
    question: str
    leads_to: tuple[words.MetricWords, ...]
    said: tuple[ResponseCard, ...]
    absent: str


def path(
    report: HafResult, responses: Sequence[ResponseCards], reasons_by_metric: dict[str, str]
) -> tuple[StageStep, ...]:
    """Return the stages of the conversation: the first one, the two questions about all reasons,
    and the questions about single reasons."""
    stages: tuple[Stage, ...] = ("justify", "internal", "external", _individual(report))
    return tuple(_step(stage, responses, reasons_by_metric) for stage in stages)


def _individual(report: HafResult) -> Stage:
    """Return the stage that tests single reasons (`sufficiency` or `necessity`). If neither was
    run, return the one that fits the stance."""
    run = [part.stage for part in report.stages if part.stage in INDIVIDUAL]
    if run:
        return run[0]
    return "necessity" if report.stance == "non-toxic" else "sufficiency"


def _step(
    stage: Stage, responses: Sequence[ResponseCards], reasons_by_metric: dict[str, str]
) -> StageStep:
    of_stage = [each for each in responses if each.part.stage == stage]
    leads_to = tuple(each for each in words.METRICS if each.name in words.LEADS_TO[stage])
    absent = "" if of_stage else reasons_by_metric.get(leads_to[0].name, "it was not run")
    cards = tuple(map(_response_card, of_stage))
    return StageStep(stage, words.TITLES[stage], words.QUESTIONS[stage], leads_to, cards, absent)


def _response_card(response: ResponseCards) -> ResponseCard:
    part = response.part
    about = None if part.reason is None else part.reason + 1
    decided = None
    if part.decision is not None and response.decision is not None:
        tones = {True: "good", False: "bad", None: "neutral"}
        decided = DecisionSentence(
            statement=response.decision,
            part=part.decision,
            answer=words.ANSWERS[part.decision.answer] if part.decision.answer else "",
            tone=tones[words.upheld(part.stage, part.decision.answer)],
            judge=words.JUDGES[part.decision.judge] if part.decision.judge else "",
        )
    return ResponseCard(about, part, decided, response.reasons, in_response(part))


TEMPLATE = "haf/page.html"
DETAILS = {"token_values": True}  # fields of a request that only the page needs
BELOW = "The numbers are in the table below."

Matrix = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric, with its values for equal token weights (`uniform`) and without confidences
    (`unweighted`). `why` explains a null value, or is empty."""

    metric: words.MetricWords
    value: float | None
    uniform: float | None
    unweighted: float | None
    why: str


@dataclass(frozen=True, slots=True)
class HafView:
    text: list[MarkedText] | None  # None: it was not kept
    asked: str  # how the stages came about
    cards: tuple[StatementCard, ...]
    with_tokens: bool
    pale: int  # statements without colours: the page has enough of them
    about_label: bool  # whether a decision's relevance is to its label
    alike: str  # the matrix in words; empty where there is none
    matrix: Chart | None
    drawn: int  # rows of the matrix that the picture shows
    steps: tuple[StageStep, ...]
    rows: tuple[MetricRow, ...]
    most_tokens: int = STRONGEST

    @property
    def kept(self) -> bool:
        return self.text is not None


def view(request: HafRequest | None, report: HafResult) -> HafView:
    """Return the data of a report's page. Without a request, the texts on the page are empty."""
    reasons_by_metric = words.reasons_by_metric(report.warnings)
    responses = response_cards(report.stages)
    return HafView(
        text=None if request is None else pieces(request.text, []),
        asked=_source_text(report),
        cards=responses[0].reasons if responses else (),
        with_tokens=any(each.part.token_values for each in _statements(responses)),
        pale=sum(each.pale for each in _statements(responses)),
        about_label=report.provenance.parameters.get("decision_target") == "label",
        alike=_matrix_description(report.similarities),
        matrix=_matrix(report.similarities),
        drawn=min(len(report.similarities), MOST),
        steps=path(report, responses, reasons_by_metric),
        rows=tuple(_row(metric, report, reasons_by_metric) for metric in words.METRICS),
    )


def _statements(responses: Sequence[ResponseCards]) -> list[StatementCard]:
    return [
        statement
        for each in responses
        for statement in (*each.reasons, each.decision)
        if statement is not None
    ]


def _source_text(report: HafResult) -> str:
    count = counted(report.counts.responses, "response")
    if report.provenance.parameters.get("generation") is None:
        return f"The request contains {count}, so no model was prompted."
    return f"The model was prompted for {count}, each in a separate conversation."


def _row(
    metric: words.MetricWords, report: HafResult, reasons_by_metric: dict[str, str]
) -> MetricRow:
    control = report.control
    value: float | None = getattr(report.components, metric.name)
    return MetricRow(
        metric=metric,
        value=value,
        uniform=getattr(control.uniform_relevance, metric.name) if control else None,
        unweighted=getattr(control.unweighted, metric.name) if control else None,
        why="" if value is not None else reasons_by_metric.get(metric.name, "no value"),
    )


def _matrix(values: Matrix) -> Chart | None:
    """Return a chart of the similarities between reasons, or None for fewer than two reasons."""
    if len(values) < 2:
        return None
    title = "Similarity of each pair of reasons, from 0 to 1"
    return matrix(values, name="reason", title=title, summary=BELOW)


def _matrix_description(values: Matrix) -> str:
    if len(values) < 2:
        return ""
    pairs = [
        (row[j], i + 1, j + 1) for i, row in enumerate(values) for j in range(i + 1, len(values))
    ]
    mean = sum(value for value, _, _ in pairs) / len(pairs)
    if len(pairs) == 1:
        return f"The two reasons have a similarity of {mean:.2f}."
    (low, *least), (high, *most) = min(pairs), max(pairs)
    return (
        f"The most similar reasons are {most[0]} and {most[1]} ({high:.2f}). The least similar are "
        f"{least[0]} and {least[1]} ({low:.2f}). The mean of all pairs is {mean:.2f}."
    )


def design(report: Record) -> Iterator[Block]:
    """Yield the charts of a batch report."""
    groups = records(report, "groups")
    for group in groups:
        names = [
            str(entry) for key in ("model", "dataset") if (entry := group.get(key)) not in NAMELESS
        ]
        name = f": {' · '.join(names)}" if names else ""
        means = record(group, "means")
        parts = {}
        for metric in words.METRICS:
            arrow = "↓" if metric.lower_is_better else "↑"
            parts[f"{arrow} {metric.title} ({metric.short})"] = record(means, metric.name)
        yield forest(f"The six parts{name}", parts, note="↑ higher is better, ↓ lower is better.")
        stances = {
            str(entry["stance"]): integer(entry, "results") for entry in records(group, "by_stance")
        }
        within = _lines_of(group) if len(groups) > 1 else []
        linked = stances if len(groups) == 1 or within else ()
        filters = facet_filters("stance", {stance: stance for stance in linked})
        yield stacked_bar(f"Stances{name}", stances, filters=filters, within=within)
        refused = {"refuse to justify": record(group, "refused")}
        yield forest(f"Refusals{name}", refused, note="Lower is better.")
        yield from _survival(name, record(group, "stages"))
        sufficient = record(group, "sufficient")
        yield forest(f"Decisions that say “sufficient”, by stage{name}", sufficient)
        off = record(group, "irrelevant")
        yield forest(
            f"Decisions that do not answer the question, by stage{name}",
            off,
            note="Lower is better.",
        )


def _lines_of(group: Record) -> list[Pair]:
    model, metadata = group.get("of_model"), record(group, "of_metadata")
    named = [("model", str(model))] if model else []
    return [*named, *(("meta", f"{key}={value}") for key, value in metadata.items())]


def _survival(name: str, stages: Record) -> Iterator[Block]:
    """Yield charts of how many results reach each stage, in the order of the stages."""
    counts = {title: record(stages, stage) for stage, title in words.TITLES.items()}
    refused = {title: integer(row, "refused") for title, row in counts.items()}
    note = "Sufficiency is tested only for toxic stances, necessity only for non-toxic stances."
    for what, which in (
        ("that reach each stage", "reached"),
        ("that are scored at each stage", "scored"),
    ):
        bars = [(title, integer(row, which)) for title, row in counts.items() if row]
        shown = bars if any(count for _, count in bars) else []
        yield CountBars(f"Results {what}{name}", shown, note)
    yield count_bars(f"Results with a refused response, by stage{name}", refused)
