"""CoT2EL: the chain of thought with what speaks for and against each option."""

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
from services.cot2el.verdict import chance
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
    """Whose span ends here: `A+` supports option A, `A−` opposes it."""

    text: str
    stance: Stance
    label: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """A stretch of the reasoning, and the spans that end with it."""

    piece: MarkedText
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class OptionExplanations(OptionRow):
    """An option and the explanations that speak of it."""

    support: tuple[Cot2elRefinedPair, ...]
    oppose: tuple[Cot2elRefinedPair, ...]
    dropped: tuple[Cot2elDropped, ...]


@dataclass(frozen=True, slots=True)
class AblationSet:
    """One of the paper's sets, as a count."""

    name: str
    about: str
    count: int


@dataclass(frozen=True, slots=True)
class AnnotatorComparison:
    """One way of matching with the annotator's pairs."""

    name: str
    about: str
    found: Cot2elAgreement


@dataclass(frozen=True, slots=True)
class Cot2elView:
    """All that the template shows beside the report."""

    chance: str | None
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
        chance=chance(report),
        question=pieces(to_prompt(request.question), ()) if request else [],
        language=str(report.provenance.parameters.get("language") or ""),
        parts=_parts(report),
        parse=pieces(report.parse or "", ()),
        options=_options(request, report),
        sets=(
            AblationSet("EL", "as parsed", len(sets.el)),
            AblationSet("EL-sup", "of these, supporting", len(sets.el_sup)),
            AblationSet("EL-opp", "of these, opposing", len(sets.el_opp)),
            AblationSet("EL filtered", "aligned to units of the reasoning", len(sets.filtered)),
            AblationSet("EL filtered, sup", "of these, supporting", len(sets.filtered_sup)),
            AblationSet("EL filtered, opp", "of these, opposing", len(sets.filtered_opp)),
        ),
        compared=_match_rows(report),
        columns=tuple(Cot2elSimilarities.model_fields),
    )


def _parts(report: Cot2elResult) -> tuple[ReasoningPart, ...]:
    """The reasoning cut at every border of a span; a tag stands where its span ends."""
    text = report.reasoning or ""
    marks = [
        Mark(one.start, one.end, one.stance, f"{SAYS[one.stance]} {one.label}")
        for one in report.evidence
        if one.start is not None and one.end is not None
    ]
    ending: dict[int, dict[Tag, None]] = {}
    for one in report.evidence:
        if one.end is not None:
            ending.setdefault(min(one.end, len(text)), {})[_tag(one)] = None
    found, place = [], 0
    for piece in pieces(text, marks):
        place += len(piece.text)
        found.append(ReasoningPart(piece, tuple(ending.get(place, {}))))
    return tuple(found)


def _tag(one: Cot2elRefinedPair) -> Tag:
    return Tag(f"{one.label}{SIGNS[one.stance]}", one.stance, f"{SAYS[one.stance]} {one.label}")


def _options(request: Cot2elRequest | None, report: Cot2elResult) -> tuple[OptionExplanations, ...]:
    spoken = {one.label for one in report.sets.el} | {one.label for one in report.evidence}
    return tuple(
        OptionExplanations(
            choice.key,
            choice.text,
            _select_pairs(report, choice.key, "support"),
            _select_pairs(report, choice.key, "oppose"),
            tuple(one for one in report.dropped if one.label == choice.key),
        )
        for choice in choices(None if request is None else request.options, spoken)
    )


def _select_pairs(report: Cot2elResult, key: str, stance: Stance) -> tuple[Cot2elRefinedPair, ...]:
    return tuple(one for one in report.evidence if (one.label, one.stance) == (key, stance))


def _match_rows(report: Cot2elResult) -> tuple[AnnotatorComparison, ...]:
    found = report.validation
    if found is None:
        return ()
    return (
        AnnotatorComparison(
            "by groups", "best matches by the mean of the similarities", found.group_mean
        ),
        AnnotatorComparison(
            "by columns", "best matches by the mean of all columns", found.column_mean
        ),
        AnnotatorComparison("as parsed", "before the alignment, by groups", found.parsed),
    )


STATUSES = {
    "ok": "read into explanations",
    "parse_failed": "the parse failed",
    "no_reasoning": "no reasoning was written",
    "not_read": "not read: the language is not known",
}


def design(report: Record) -> Iterator[Block]:
    """The charts of a batch report."""
    explanations = record(report, "explanations")
    became = {
        "kept: said in the reasoning": integer(explanations, "kept"),
        "dropped: the reasoning says the opposite": integer(explanations, "contradicted"),
        "dropped: nothing in the reasoning is like it": integer(explanations, "unlike"),
    }
    tones = dict(zip(became, (GOOD, NEUTRAL, BAD), strict=True))
    yield stacked_bar("What became of the explanations", became, tones=tones)
    rows = [
        ForestRow("the explanations", record(report, "faithfulness")),
        ForestRow("with their words shuffled", record(report, "faithfulness_by_chance")),
        ForestRow("of other items", record(report, "faithfulness_of_others")),
    ]
    kept = [row for row in rows if is_shown(row.interval)]
    yield Forest("Really said in the reasoning, beside two kinds of chance", kept)
    shares = {"contradicted": record(report, "contradicted")}
    yield forest("Explanations that the reasoning contradicts", shares, note="Lower is better.")
    options = record(report, "options")
    said = {
        "supported": integer(options, "supported"),
        "only opposed": integer(options, "opposed"),
        "nothing is said of them": integer(options, "unexplained"),
    }
    tones = dict(zip(said, (GOOD, NEUTRAL, NONE), strict=True))
    left = integer(options, "unknown")
    yield stacked_bar(
        "Options, by what is said for them",
        said,
        f"{left:,} results do not keep their options, and are left out." if left else "",
        tones=tones,
    )
    statuses = record(report, "statuses")
    read = {words: integer(statuses, name) for name, words in STATUSES.items()}
    yield stacked_bar("Parses, and why they failed", read)
