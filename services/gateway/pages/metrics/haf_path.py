"""The stages as a path: what was asked, what was decided, who read it, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.gateway.pages.metrics import haf_words as words
from services.gateway.pages.metrics.haf_said import Spoken, Statement, in_response
from services.haf.report import DecisionPart, HafReport, Stage, StagePart
from shared.page_text import MarkedText

INDIVIDUAL: tuple[Stage, ...] = ("sufficiency", "necessity")


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision sentence and how it was read. `tone`: good, bad or neutral."""

    statement: Statement
    part: DecisionPart
    answer: str
    tone: str
    judge: str


@dataclass(frozen=True, slots=True)
class Said:
    """One response. `about`: the JUSTIFY reason that was asked about, from 1."""

    about: int | None
    part: StagePart
    decided: Decided | None
    cards: tuple[Statement, ...]
    response: list[MarkedText]


@dataclass(frozen=True, slots=True)
class Step:
    """A stage. `absent`: why nobody answered, else empty; `leads_to`: names of its metrics."""

    stage: Stage
    title: str
    question: str
    leads_to: tuple[words.Metric, ...]
    said: tuple[Said, ...]
    absent: str


def path(report: HafReport, responses: Sequence[Spoken], whys: dict[str, str]) -> tuple[Step, ...]:
    """JUSTIFY, both questions about all reasons, and the one about each reason."""
    stages: tuple[Stage, ...] = ("justify", "internal", "external", _individual(report))
    return tuple(_step(stage, responses, whys) for stage in stages)


def _individual(report: HafReport) -> Stage:
    """Which of the two was asked; of none, the one that the stance calls for."""
    asked = [part.stage for part in report.stages if part.stage in INDIVIDUAL]
    if asked:
        return asked[0]
    return "necessity" if report.stance == "non-toxic" else "sufficiency"


def _step(stage: Stage, responses: Sequence[Spoken], whys: dict[str, str]) -> Step:
    own = [each for each in responses if each.part.stage == stage]
    leads_to = tuple(each for each in words.METRICS if each.name in words.LEADS_TO[stage])
    absent = "" if own else whys.get(leads_to[0].name, "it was not asked")
    said = tuple(map(_said, own))
    return Step(stage, words.TITLES[stage], words.QUESTIONS[stage], leads_to, said, absent)


def _said(response: Spoken) -> Said:
    part = response.part
    about = None if part.reason is None else part.reason + 1
    decided = None
    if part.decision is not None and response.decision is not None:
        decided = _decided(part.stage, part.decision, response.decision)
    return Said(about, part, decided, response.reasons, in_response(part))


def _decided(stage: Stage, part: DecisionPart, statement: Statement) -> Decided:
    tones = {True: "good", False: "bad", None: "neutral"}
    return Decided(
        statement=statement,
        part=part,
        answer=words.ANSWERS[part.answer] if part.answer else "",
        tone=tones[words.upheld(stage, part.answer)],
        judge=words.JUDGES[part.judge] if part.judge else "",
    )
