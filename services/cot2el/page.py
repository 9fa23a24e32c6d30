"""The page of a CoT2EL job: the chain of thought with its explanations for and against each
option."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.cot2el.contract import Cot2elRequest
from services.cot2el.report import (
    Cot2elAgreement,
    Cot2elDropped,
    Cot2elRefinedPair,
    Cot2elResult,
    Cot2elSimilarities,
)
from shared.contracts.questions import Stance, to_prompt
from shared.reports.pages.page_text import Mark, MarkedText, OptionRow, choices, pieces
from shared.reports.pages.report_design import (
    BAD,
    GOOD,
    NEUTRAL,
    NONE,
    Block,
    Forest,
    ForestRow,
    Record,
    forest,
    integer,
    is_shown,
    record,
    stacked_bar,
)

TEMPLATE = "cot2el/page.html"

SIGNS: dict[Stance, str] = {"support": "+", "oppose": "\N{MINUS SIGN}"}
SAYS: dict[Stance, str] = {"support": "speaks for", "oppose": "speaks against"}


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag shown where a span ends. `A+` means that the span supports option A, and `A−` that it
    opposes option A."""

    text: str
    stance: Stance
    label: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """A piece of the reasoning. A tag is attached for each marked span that ends where the piece
    ends."""

    piece: MarkedText
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class OptionExplanations(OptionRow):
    support: tuple[Cot2elRefinedPair, ...]
    oppose: tuple[Cot2elRefinedPair, ...]
    dropped: tuple[Cot2elDropped, ...]


@dataclass(frozen=True, slots=True)
class AblationSet:
    """The size of one of the paper's ablation sets."""

    name: str
    about: str
    count: int


@dataclass(frozen=True, slots=True)
class AnnotatorComparison:
    """The model's agreement with the annotator's explanation–label pairs, for one method of
    matching these pairs."""

    name: str
    about: str
    agreement: Cot2elAgreement


@dataclass(frozen=True, slots=True)
class Cot2elView:
    """The values that the page shows in addition to the report."""

    question: list[MarkedText]
    language: str  # of the reasoning; "" where it was not kept
    parts: tuple[ReasoningPart, ...]  # empty where the text was not kept
    parse: list[MarkedText]
    options: tuple[OptionExplanations, ...]
    sets: tuple[AblationSet, ...]
    compared: tuple[AnnotatorComparison, ...]
    columns: tuple[str, ...]


def view(request: Cot2elRequest | None, report: Cot2elResult) -> Cot2elView:
    sets = report.sets
    return Cot2elView(
        question=pieces(to_prompt(request.question), ()) if request else [],
        language=str(report.provenance.parameters.get("language") or ""),
        parts=_parts(report),
        parse=pieces(report.parse or "", ()),
        options=_options(request, report),
        sets=(
            AblationSet("EL", "as parsed", len(sets.el)),
            AblationSet("EL-sup", "explanations in favour of an option", len(sets.el_sup)),
            AblationSet("EL-opp", "explanations against an option", len(sets.el_opp)),
            AblationSet(
                "EL filtered",
                "explanations matched to a passage of the reasoning",
                len(sets.filtered),
            ),
            AblationSet(
                "EL filtered, sup",
                "matched explanations in favour of an option",
                len(sets.filtered_sup),
            ),
            AblationSet(
                "EL filtered, opp", "matched explanations against an option", len(sets.filtered_opp)
            ),
        ),
        compared=_match_rows(report),
        columns=tuple(Cot2elSimilarities.model_fields),
    )


def _parts(report: Cot2elResult) -> tuple[ReasoningPart, ...]:
    """Split the reasoning after each cited span. The page shows the span's tag at this point."""
    text = report.reasoning or ""
    marks = [
        Mark(row.start, row.end, row.stance, f"{SAYS[row.stance]} {row.label}")
        for row in report.evidence
        if row.start is not None and row.end is not None
    ]
    ending: dict[int, dict[Tag, None]] = {}
    for row in report.evidence:
        if row.end is not None:
            label = f"{SAYS[row.stance]} {row.label}"
            tag = Tag(f"{row.label}{SIGNS[row.stance]}", row.stance, label)
            ending.setdefault(min(row.end, len(text)), {})[tag] = None
    parts, position = [], 0
    for piece in pieces(text, marks):
        position += len(piece.text)
        parts.append(ReasoningPart(piece, tuple(ending.get(position, {}))))
    return tuple(parts)


def _options(request: Cot2elRequest | None, report: Cot2elResult) -> tuple[OptionExplanations, ...]:
    labels = {row.label for row in report.sets.el} | {row.label for row in report.evidence}
    return tuple(
        OptionExplanations(
            choice.key,
            choice.text,
            _select_pairs(report, choice.key, "support"),
            _select_pairs(report, choice.key, "oppose"),
            tuple(row for row in report.dropped if row.label == choice.key),
        )
        for choice in choices(None if request is None else request.options, labels)
    )


def _select_pairs(report: Cot2elResult, key: str, stance: Stance) -> tuple[Cot2elRefinedPair, ...]:
    return tuple(row for row in report.evidence if (row.label, row.stance) == (key, stance))


def _match_rows(report: Cot2elResult) -> tuple[AnnotatorComparison, ...]:
    validation = report.validation
    if validation is None:
        return ()
    return (
        AnnotatorComparison(
            "by groups", "best matches by the mean of the similarities", validation.group_mean
        ),
        AnnotatorComparison(
            "by columns", "best matches by the mean of all columns", validation.column_mean
        ),
        AnnotatorComparison(
            "as parsed", "explanations before they are matched to the reasoning", validation.parsed
        ),
    )


STATUSES = {
    "ok": "explanations were read",
    "parse_failed": "the parse failed",
    "no_reasoning": "no reasoning was written",
    "not_read": "not read: unknown language",
}


def design(report: Record) -> Iterator[Block]:
    """Yield the charts of a batch report."""
    explanations = record(report, "explanations")
    outcomes = {
        "kept: in the reasoning": integer(explanations, "kept"),
        "dropped: the reasoning says the opposite": integer(explanations, "contradicted"),
        "dropped: not in the reasoning": integer(explanations, "unlike"),
    }
    tones = dict(zip(outcomes, (GOOD, NEUTRAL, BAD), strict=True))
    yield stacked_bar("Explanations, by outcome", outcomes, tones=tones)
    rows = [
        ForestRow("the explanations", record(report, "faithfulness")),
        ForestRow("explanations with shuffled words", record(report, "faithfulness_by_chance")),
        ForestRow("explanations of other items", record(report, "faithfulness_of_others")),
    ]
    shown = [row for row in rows if is_shown(row.interval)]
    yield Forest("Explanations in the reasoning, compared with two kinds of chance", shown)
    shares = {"contradicted": record(report, "contradicted")}
    yield forest("Explanations that the reasoning contradicts", shares, note="Lower is better.")
    options = record(report, "options")
    counts = {
        "supported": integer(options, "supported"),
        "only opposed": integer(options, "opposed"),
        "without explanations": integer(options, "unexplained"),
    }
    tones = dict(zip(counts, (GOOD, NEUTRAL, NONE), strict=True))
    unknown = integer(options, "unknown")
    yield stacked_bar(
        "Options, by their explanations",
        counts,
        f"{unknown:,} results were stored without their options and are left out."
        if unknown
        else "",
        tones=tones,
    )
    statuses = record(report, "statuses")
    named = {words: integer(statuses, name) for name, words in STATUSES.items()}
    yield stacked_bar("How the model's lists were read", named)
