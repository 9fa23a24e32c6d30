"""An explanation that comes as fields: what is given is taken as it is, and nothing reads it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from services.hatexscore.conclusion import ConclusionRead, ConclusionStatement, label_of
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.quotes import plain_format
from services.hatexscore.words import Span
from shared.contracts.explanation_fields import ExplanationFields, FieldName
from shared.text.normalized import NormalizedText, normalize


def plain_explanation(request: HatexscoreRequest, explanation: str) -> NormalizedText:
    """The normalised explanation. Fields have no marks to find: their values are known.

    explanation: the text, with its notation already in marks or not.
    """
    fields = request.explanation_fields
    if fields is not None and fields.quotes is not None:
        return normalize(request.explanation_text)
    return plain_format(explanation, normalize(request.text).text)


def given_quotes(request: HatexscoreRequest, plain: NormalizedText) -> list[Span] | None:
    """The spans of the quotes in the normalised fields; None if there is no such field."""
    fields = request.explanation_fields
    if fields is None or fields.quotes is None:
        return None
    return _spans(fields, plain, "quotes")


def _spans(fields: ExplanationFields, plain: NormalizedText, name: FieldName) -> list[Span]:
    """The spans of a field's values in the normalised fields."""
    return [
        (bisect_left(plain.starts, start), bisect_right(plain.starts, end - 1))
        for start, end in fields.spans(name)
    ]


def given_conclusion(request: HatexscoreRequest) -> ConclusionRead | None:
    """The decision of the field; None if there is no such field. Not read if it is no label."""
    fields = request.explanation_fields
    if fields is None or not fields.decision:
        return None
    [(start, end)] = fields.spans("decision")
    vocabulary = request.vocabulary
    named = next(
        (one for one in vocabulary.classes if one == fields.decision.strip().lower()), None
    )
    label = named or label_of(vocabulary, fields.decision)
    if label is None:
        return ConclusionRead(None, is_read=False)
    words = vocabulary.labels_in(fields.decision)
    is_named = not vocabulary.further or label in (*words, "hateful")
    return ConclusionRead(ConclusionStatement(start, end, label, is_named=is_named))


def given_groups(request: HatexscoreRequest, plain: NormalizedText) -> str | None:
    """The normalised lines that name the target groups, everything else blank; None without that
    field."""
    fields = request.explanation_fields
    if fields is None or fields.target_groups is None:
        return None
    lines = ["" if line.strip() == "" else " " * len(line) for line in plain.text.split("\n")]
    blank = "\n".join(lines)
    for start, end in _spans(fields, plain, "target_groups"):
        begin = plain.text.rfind("\n", 0, start) + 1
        blank = blank[:begin] + plain.text[begin:end] + blank[end:]
    return blank
