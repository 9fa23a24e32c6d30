"""Builds the evidence of a report: the spans of quotations, shared words and items, in the
statement and in the post."""

from __future__ import annotations

from collections.abc import Iterator

from services.sor.contract import SorRequest
from services.sor.parsing import ReadStatement, ReadText
from services.sor.report import SorEvidence
from shared.text.sentences import Span


def evidence_of(request: SorRequest, read: ReadStatement) -> Iterator[SorEvidence]:
    """Yield the evidence in each text of the statement: quotations and words of the post,
    quotations that are not in the post, and disclosed items."""
    for text in read.texts:
        for quote in text.facts.quotes:
            yield _evidence(text, "quote", quote.statement, quote.post)
        for word in text.facts.shared:
            yield _evidence(text, "word", word.statement, word.post)
        for span in text.facts.missing:
            yield _evidence(text, "quote_not_found", span)
        for match in text.disclosed:
            evidence = _evidence(text, match.item, match.span)
            yield evidence.model_copy(update={"value": 1.0, "route": match.route})


def _evidence(text: ReadText, kind: str, span: Span, post: Span | None = None) -> SorEvidence:
    start, end = text.normalized.original(*span)
    fields = {
        "kind": kind,
        "start": start,
        "end": end,
        "text": text.text[start:end],
        "field": text.field,
        "post_start": post and post[0],
        "post_end": post and post[1],
    }
    return SorEvidence.model_validate(fields)
