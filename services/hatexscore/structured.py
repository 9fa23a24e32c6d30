"""Explanations in the form of fields, which can be parsed without a text classifier."""

from __future__ import annotations

from typing import Literal

from services.hatexscore.conclusion import ConclusionRead, ConclusionStatement, label_of
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.quotes import plain_format
from services.hatexscore.words import Span
from shared.text.normalized import NormalizedText, normalize


def plain_explanation(request: HatexscoreRequest, explanation: str) -> NormalizedText:
    """Return the normalised explanation. Quotation marks are removed if the request has the quotes
    in a separate field. Otherwise `explanation` is used, where backticks and TeX marks may already
    be quotation marks."""
    fields = request.explanation_fields
    if fields is not None and fields.quotes is not None:
        return normalize(request.explanation_text)
    return plain_format(explanation, normalize(request.text).text)


def given_spans(
    request: HatexscoreRequest, plain: NormalizedText, name: Literal["quotes", "target_groups"]
) -> list[Span] | None:
    """Return the spans of a field's values in the normalised explanation, or None without the
    field."""
    fields = request.explanation_fields
    if fields is None or getattr(fields, name) is None:
        return None
    return [plain.normalized(*span) for span in fields.spans(name)]


def given_conclusion(request: HatexscoreRequest) -> ConclusionRead | None:
    """Return the conclusion in the field `decision`, or None without this field. If the field's
    value is not a label, the conclusion is marked as unread."""
    fields = request.explanation_fields
    if fields is None or not fields.decision:
        return None
    [(start, end)] = fields.spans("decision")
    vocabulary = request.vocabulary
    class_named = next(
        (class_ for class_ in vocabulary.classes if class_ == fields.decision.strip().lower()), None
    )
    label = class_named or label_of(vocabulary, fields.decision)
    if label is None:
        return ConclusionRead(None, is_read=False)
    words = vocabulary.labels_in(fields.decision)
    is_named = not vocabulary.further or label in (*words, "hateful")
    return ConclusionRead(ConclusionStatement(start, end, label, is_named=is_named))
