"""Finds stances, answers of later stages, and refusals with the trained reader, a small text
classifier. Each kind takes one call for all responses. A probability does not depend on other texts
in the call, so a response is read the same alone and in a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import cast

from services.haf.parsing import (
    Decision,
    DecisionVerdict,
    Outline,
    ParsedResponse,
    ParsedStatement,
    Sentence,
    field_of,
    is_reason,
    outline,
)
from services.haf.report import Answer, Stage, Stance
from shared.contracts.explanation_fields import fields_in
from shared.models.ports import Floats
from shared.readers.decision_words import side_of
from shared.readers.model import LABELS, Reading, ask

SURE = 0.7  # the least probability of a stance and of an irrelevant answer
SURE_OF_REFUSAL = 0.9
SURE_OF_ANSWER = 0.8  # of other answers: between the two many a "The text is toxic." suffices
LONGEST = 1_500  # characters that are read at once
ANSWERS: tuple[Answer, ...] = ("sufficient", "insufficient", "doubtful")
STANCES: tuple[Stance, ...] = ("toxic", "maybe", "non-toxic")
NEED_MORE: tuple[Answer, ...] = ("insufficient", "doubtful")


def read_responses(responses: Sequence[tuple[str, Stage]]) -> list[ParsedResponse]:
    """Parse responses from any stage of the conversation. Raises Unavailable if the trained text
    classifier is not available. A first response in JSON with the fields of an explanation does not
    need the classifier."""
    from_fields = [
        _fields_response(response) if stage == "justify" else None for response, stage in responses
    ]
    left = [each for each, parsed in zip(responses, from_fields, strict=True) if parsed is None]
    read = iter(_read(left))
    return [parsed or next(read) for parsed in from_fields]


def _fields_response(response: str) -> ParsedResponse | None:
    """Parse a JSON response with the fields of an explanation. Return None if it has no such fields
    or no valid stance."""
    fields = fields_in(response)
    if fields is None or fields.reasons is None or not fields.decision:
        return None
    stance, statement = _stance_of(fields.decision), field_of(response, "decision")
    if stance is None or statement is None:
        return None
    return ParsedResponse(Decision(statement), stance, outline(response).reasons, refusal=False)


def _stance_of(decision: str) -> Stance | None:
    label = " ".join(decision.lower().replace("_", " ").replace("-", " ").split())
    if label in ("non toxic", "not toxic"):
        return "non-toxic"
    for stance in STANCES:
        if label == stance:
            return stance
    side = side_of(decision)
    return None if side is None else "toxic" if side == "hateful" else "non-toxic"


def _read(responses: Sequence[tuple[str, Stage]]) -> list[ParsedResponse]:
    outlines = [outline(response) for response, _ in responses]
    texts: dict[Reading, dict[str, None]] = {"stance": {}, "answer": {}, "refusal": {}}
    for each, (_, stage) in zip(outlines, responses, strict=True):
        sentences = [each.whole, *(sentence.asked for sentence in each.opening)]
        texts["stance"].update(dict.fromkeys(sentences))
        if stage != "justify":
            sentences += [sentence.asked for sentence in each.prose]
            texts["answer"].update(dict.fromkeys(sentences))
        if not each.reasons:
            texts["refusal"][each.whole] = None
    rows: dict[Reading, dict[str, Floats]] = {}
    for reading, requested in texts.items():
        answers = ask(reading, [f"{reading}: {text[:LONGEST]}" for text in requested])
        rows[reading] = dict(zip(requested, answers, strict=True))
    readings = _Readings(rows)
    return [
        _justify(each, readings) if stage == "justify" else _later(each, readings)
        for each, (_, stage) in zip(outlines, responses, strict=True)
    ]


SHORTEST_REFUSAL = 3  # words


@dataclass(frozen=True, slots=True)
class _Readings:
    """The probabilities of the trained text classifier for all texts, by classification and
    text."""

    rows: Mapping[Reading, Mapping[str, Floats]]

    def label(self, reading: Reading, text: str) -> tuple[str, float]:
        """Return the most probable label and its probability."""
        row = self.rows[reading][text]
        best = int(row.argmax())
        return LABELS[reading][best], float(row[best])

    def stance(self, text: str) -> Stance:
        label, probability = self.label("stance", text)
        return cast(Stance, label) if text and probability >= SURE else "unclear"

    def verdict(self, text: str) -> DecisionVerdict | None:
        """Return the decision that the text states about the reasons, or None if it states none."""
        label, probability = self.label("answer", text)
        if label in ANSWERS and probability >= SURE_OF_ANSWER:
            return DecisionVerdict(label, "reader", probability)
        return None

    def irrelevance(self, text: str) -> DecisionVerdict | None:
        """Return a verdict if the response answers another question, for example if it states that
        the post is toxic."""
        label, probability = self.label("answer", text)
        if label == "irrelevant" and probability >= SURE:
            return DecisionVerdict("irrelevant", "reader", probability)
        if self.stance(text) in ("toxic", "non-toxic"):
            return DecisionVerdict("irrelevant", "reader", self.label("stance", text)[1])
        return None

    def refuses(self, each: Outline, reading: Reading) -> bool:
        """Return True if the response refuses the task. `reading` names the classification to use.
        A response with a list of reasons, a clear answer or only two words ("No.") is no refusal.
        """
        if each.reasons or len(each.whole.split()) < SHORTEST_REFUSAL:
            return False
        answer, probability = self.label(reading, each.whole)
        if answer != "unclear" and probability >= SURE:
            return False
        label, probability = self.label("refusal", each.whole)
        return label == "refusal" and probability >= SURE_OF_REFUSAL

    def share(self, reading: Reading, text: str, labels: Sequence[str]) -> float:
        """Return the total probability of these labels."""
        row = self.rows[reading][text]
        return sum(float(row[LABELS[reading].index(label)]) for label in labels)


def _justify(each: Outline, readings: _Readings) -> ParsedResponse:
    """Parse the response of the first stage. The sentences before the reasons give the stance. The
    decision is the first of these sentences that takes the same stance."""
    stance = readings.stance(each.whole)
    if readings.refuses(each, "stance"):
        return ParsedResponse(None, "unclear", (), refusal=True)
    if not each.opening:
        return ParsedResponse(None, "unclear", each.reasons, refusal=False)
    taking = [sentence for sentence in each.opening if readings.stance(sentence.asked) == stance]
    decision = (taking or each.opening)[0]
    prose = _after(each, decision) or [
        sentence for sentence in each.prose if sentence is not decision
    ]
    reasons = each.reasons or _paragraphs(each.response, prose)
    return ParsedResponse(Decision(each.statement(decision)), stance, reasons, refusal=False)


def _later(each: Outline, readings: _Readings) -> ParsedResponse:
    """Parse the response of a later stage: its decision about the reasons, and any new reasons."""
    answering = readings.share("answer", each.whole, ANSWERS)
    if readings.refuses(each, "answer"):
        return ParsedResponse(None, "unclear", (), refusal=True)
    decision_sentence, verdict = _answer(each, readings, answering)
    if decision_sentence is None or verdict is None:
        return ParsedResponse(None, "unclear", each.reasons, refusal=False)
    prose: list[Sentence] = []
    if verdict.answer in NEED_MORE:
        prose = [
            sentence
            for sentence in _after(each, decision_sentence)
            if readings.verdict(sentence.asked) is None
        ]
    reasons = each.reasons or _paragraphs(each.response, prose)
    decision = Decision(each.statement(decision_sentence), verdict)
    return ParsedResponse(decision, "unclear", reasons, refusal=False)


def _answer(
    each: Outline, readings: _Readings, answering: float
) -> tuple[Sentence | None, DecisionVerdict | None]:
    """Return a sentence with its verdict. It is the first opening sentence that answers the
    question, or else the first off-topic one. If neither exists, it is the first one, as unclear.
    """
    if not each.opening:
        return None, None
    for read in (readings.verdict, readings.irrelevance):
        for sentence in each.opening:
            if verdict := read(sentence.asked):
                return sentence, verdict
        if verdict := read(each.whole):
            return each.opening[0], verdict
    return each.opening[0], DecisionVerdict("unclear", "reader", 1 - answering)


def _after(each: Outline, decision: Sentence) -> list[Sentence]:
    return [sentence for sentence in each.prose if sentence.span[0] >= decision.span[1]]


def _paragraphs(response: str, prose: Sequence[Sentence]) -> tuple[ParsedStatement, ...]:
    """Return one reason for each paragraph of prose. It extends from the paragraph's first sentence
    that states a reason to the last one."""
    kept = [sentence for sentence in prose if is_reason(sentence.asked)]
    spans = [
        (group[0].span[0], group[-1].span[1])
        for group in (
            list(each) for _, each in groupby(kept, key=lambda sentence: sentence.paragraph)
        )
    ]
    return tuple(ParsedStatement(response[start:end], (start, end)) for start, end in spans)
