"""Where the explanations of an ICE report point: heat maps, or the rationale's spans alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.ice.contract import IceRequest
from services.ice.report import IceReport, RationaleEvidence, TokenValues
from services.ice.spans import Of
from shared.page_text import Mark, MarkedText, TokenRun, Warm, level, pieces, runs, stretches

MOST_MAPS = 6  # explanations shown in the text; the others are in the tables
MOST_STRETCHES = 2_500  # coloured or outlined elements of a page: about 100 kB
STRONGEST = 10  # tokens listed
MOST_SPANS = 20  # of a rationale, listed

NAMES: dict[Of, str] = {"text": "Text", "text_pair": "Text pair"}


@dataclass(frozen=True)
class Passage:
    """A text as far as the model reads it, and how an explanation sees it."""

    name: str
    runs: tuple[TokenRun, ...]
    unread: int  # characters behind those that the model reads

    @property
    def text(self) -> str:
        """The text as far as it is read."""
        return "".join(stretch.text for run in self.runs for stretch in run.stretches)


@dataclass(frozen=True)
class Strong:
    """A token and what it is worth to an explanation."""

    where: str
    text: str | None  # None: not kept
    value: float
    inside: bool  # the rationale


@dataclass(frozen=True)
class HeatMap:
    """One explanation in the text. passages: empty where the text was not kept."""

    explanation: str
    largest: float | None  # magnitude of the deepest colour; None: no values to colour
    passages: tuple[Passage, ...]
    strongest: tuple[Strong, ...]
    spans: tuple[RationaleEvidence, ...]
    more_spans: int
    unplaced: int  # tokens of the rationale that are the template's
    pale: bool = False  # the values are there, but the page has colours enough


@dataclass(frozen=True)
class Marked:
    """A text with the spans that people marked."""

    name: str
    pieces: list[MarkedText]


def texts(request: IceRequest | None) -> dict[Of, str]:
    """The texts that were judged; none where they were not kept."""
    if request is None:
        return {}
    pair: dict[Of, str] = {} if request.text_pair is None else {"text_pair": request.text_pair}
    return {"text": request.text, **pair}


def human(request: IceRequest | None) -> tuple[Marked, ...]:
    """The texts with what people marked in them."""
    if request is None or not request.human:
        return ()
    return tuple(
        Marked(NAMES[of], pieces(text, _human_marks(request, of)))
        for of, text in texts(request).items()
    )


def _human_marks(request: IceRequest, of: Of) -> list[Mark]:
    return [
        Mark(span.start, span.end, "human", "marked by people")
        for span in request.human or ()
        if span.of == of
    ]


def maps(request: IceRequest | None, report: IceReport) -> tuple[HeatMap, ...]:
    """Of the first explanations, in the report's order. Too much colour is left out."""
    names = dict.fromkeys(test.explanation for test in report.components.tests)
    values = {own.explanation: own for own in report.token_values}
    found: list[HeatMap] = []
    spent = 0
    for name in list(names)[:MOST_MAPS]:
        made = _map(request, report, name, values.get(name))
        weight = _weight(made)
        if spent + weight > MOST_STRETCHES and made.largest is not None:
            made = _pale(_map(request, report, name, None), made)
            weight = _weight(made)
        spent += weight
        found.append(made)
    return tuple(found)


def _pale(outlined: HeatMap, coloured: HeatMap) -> HeatMap:
    """The rationale outlined, without colours; all else as it was."""
    return replace(outlined, strongest=coloured.strongest, unplaced=coloured.unplaced, pale=True)


def _weight(made: HeatMap) -> int:
    return sum(stretches(passage.runs) for passage in made.passages)


def _map(
    request: IceRequest | None, report: IceReport, name: str, own: TokenValues | None
) -> HeatMap:
    spans = [span for span in report.evidence if span.explanation == name]
    given = [abs(value) for value in own.values if value is not None] if own else []
    largest = max(given, default=None)
    return HeatMap(
        explanation=name,
        largest=largest,
        passages=tuple(
            _passage(report, of, text, list(_warm(report, of, own, spans)))
            for of, text in texts(request).items()
        ),
        strongest=tuple(_strongest(texts(request), report, own)),
        spans=tuple(spans[:MOST_SPANS]),
        more_spans=max(0, len(spans) - MOST_SPANS),
        unplaced=_unplaced(report, own),
    )


def _passage(report: IceReport, of: Of, text: str, tokens: Sequence[Warm]) -> Passage:
    read = report.characters_read[0 if of == "text" else 1]
    return Passage(NAMES[of], runs(text[:read], tokens), len(text[read:].rstrip()))


def _warm(
    report: IceReport, of: Of, own: TokenValues | None, spans: Iterable[RationaleEvidence]
) -> Iterator[Warm]:
    """Tokens with their values; without these the spans, which are outlined only."""
    if own is None:
        for span in spans:
            if span.offsets_into == of and span.start is not None and span.end is not None:
                yield Warm(span.start, span.end, outlined=True)
        return
    inside = set(own.rationale)
    largest = max((abs(value) for value in own.values if value is not None), default=0.0)
    for place, (token, value) in enumerate(zip(report.tokens, own.values, strict=True)):
        if token.of == of and token.start is not None and token.end is not None:
            yield Warm(token.start, token.end, level(value, largest), place in inside)


def _strongest(
    known: dict[Of, str], report: IceReport, own: TokenValues | None
) -> Iterator[Strong]:
    """Of the largest magnitude, first; of equal ones, the first in the text."""
    if own is None:
        return
    given = [(place, value) for place, value in enumerate(own.values) if value]
    inside = set(own.rationale)
    for place, value in sorted(given, key=lambda pair: -abs(pair[1]))[:STRONGEST]:
        token = report.tokens[place]
        if token.of not in ("text", "text_pair"):
            yield Strong("the template", None, value, place in inside)
            continue
        text = known.get(token.of)
        yield Strong(
            where=f"{NAMES[token.of].lower()}, {token.start}–{token.end}",
            text=None if text is None else text[token.start : token.end],
            value=value,
            inside=place in inside,
        )


def _unplaced(report: IceReport, own: TokenValues | None) -> int:
    if own is None:
        return 0
    return sum(report.tokens[place].of == "template" for place in own.rationale)
