"""CoT2EL: the chain of thought with what speaks for and against each option."""

from __future__ import annotations

from dataclasses import dataclass

from services.cot2el.contract import Cot2elRequest
from services.cot2el.report import Agreement, Cot2elReport, Dropped, RefinedPair, Similarities
from services.gateway.pages.marks import Mark, Piece, pieces
from shared.choices import Stance, asked

TEMPLATE = "metrics/cot2el.html"

SIGNS: dict[Stance, str] = {"support": "+", "oppose": "\N{MINUS SIGN}"}
SAYS: dict[Stance, str] = {"support": "speaks for", "oppose": "speaks against"}
STATUS = {
    "no_reasoning": "The model wrote no reasoning part: there is nothing to take explanations "
    "from.",
    "parse_failed": "The model's list could not be read as JSON in three tries. That is no finding "
    "about the reasoning.",
}


@dataclass(frozen=True, slots=True)
class Tag:
    """Whose span ends here: `A+` supports option A, `A−` opposes it."""

    text: str
    stance: Stance
    label: str


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the reasoning, and the spans that end with it."""

    piece: Piece
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its text ("" where it was not kept) and the explanations that speak of it."""

    key: str
    text: str
    support: tuple[RefinedPair, ...]
    oppose: tuple[RefinedPair, ...]
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True, slots=True)
class AblationSet:
    """One of the paper's sets, as a count."""

    name: str
    about: str
    count: int


@dataclass(frozen=True, slots=True)
class Compared:
    """One way of matching with the annotator's pairs."""

    name: str
    about: str
    found: Agreement


@dataclass(frozen=True, slots=True)
class Cot2elView:
    """All that the template shows beside the report."""

    verdict: str
    tone: str
    chance: str | None
    question: list[Piece]
    parts: tuple[Part, ...]  # empty where the text was not kept
    parse: list[Piece]
    options: tuple[Option, ...]
    sets: tuple[AblationSet, ...]
    compared: tuple[Compared, ...]
    columns: tuple[str, ...]


def view(request: Cot2elRequest | None, report: Cot2elReport) -> Cot2elView:
    """What the page says of this report."""
    verdict, tone = _verdict(report)
    return Cot2elView(
        verdict=verdict,
        tone=tone,
        chance=_chance(report),
        question=pieces(asked(request.question), ()) if request else [],
        parts=_parts(report),
        parse=pieces(report.parse or "", ()),
        options=_options(request, report),
        sets=_sets(report),
        compared=_compared(report),
        columns=tuple(Similarities.model_fields),
    )


def _verdict(report: Cot2elReport) -> tuple[str, str]:
    if report.status != "ok":
        return STATUS[report.status], "neutral"
    found, control = report.components, report.control
    if found.faithfulness is None:
        return "There are no explanations: faithfulness is undefined.", "neutral"
    said = (
        f"{found.kept} of {found.parsed} explanations stand in the reasoning, word for word or "
        "nearly so."
    )
    if control is not None and found.faithfulness <= control.faithfulness:
        return f"{said} Explanations with shuffled words do as well.", "bad"
    return said, "good" if found.kept == found.parsed else "neutral"


def _chance(report: Cot2elReport) -> str | None:
    control = report.control
    if control is None:
        return None
    return (
        f"Chance: with their words in random order {control.faithfulness:.0%} would count as "
        f"standing there (mean of {control.draws} draws)."
    )


def _parts(report: Cot2elReport) -> tuple[Part, ...]:
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
        found.append(Part(piece, tuple(ending.get(place, {}))))
    return tuple(found)


def _tag(one: RefinedPair) -> Tag:
    return Tag(f"{one.label}{SIGNS[one.stance]}", one.stance, f"{SAYS[one.stance]} {one.label}")


def _options(request: Cot2elRequest | None, report: Cot2elReport) -> tuple[Option, ...]:
    """In the order in which they were shown; by letter where that is not known."""
    texts = {option.key: option.text for option in request.options} if request else {}
    spoken = {one.label for one in report.sets.el} | {one.label for one in report.evidence}
    return tuple(
        Option(
            key,
            texts.get(key, ""),
            _placed(report, key, "support"),
            _placed(report, key, "oppose"),
            tuple(one for one in report.dropped if one.label == key),
        )
        for key in (texts or sorted(spoken))
    )


def _placed(report: Cot2elReport, key: str, stance: Stance) -> tuple[RefinedPair, ...]:
    return tuple(one for one in report.evidence if (one.label, one.stance) == (key, stance))


def _sets(report: Cot2elReport) -> tuple[AblationSet, ...]:
    sets = report.sets
    return (
        AblationSet("EL", "as parsed", len(sets.el)),
        AblationSet("EL-sup", "of these, supporting", len(sets.el_sup)),
        AblationSet("EL-opp", "of these, opposing", len(sets.el_opp)),
        AblationSet("EL filtered", "as they stand in the reasoning", len(sets.filtered)),
        AblationSet("EL filtered, sup", "of these, supporting", len(sets.filtered_sup)),
        AblationSet("EL filtered, opp", "of these, opposing", len(sets.filtered_opp)),
    )


def _compared(report: Cot2elReport) -> tuple[Compared, ...]:
    found = report.validation
    if found is None:
        return ()
    return (
        Compared("by groups", "best matches by the mean of the similarities", found.group_mean),
        Compared("by columns", "best matches by the mean of all columns", found.column_mean),
        Compared("as parsed", "before the alignment, by groups", found.parsed),
    )
