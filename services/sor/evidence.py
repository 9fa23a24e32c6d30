"""Where everything that was found stands, in the statement and in the post."""

from __future__ import annotations

from collections.abc import Iterator

from services.sor.contract import SorRequest
from services.sor.parsing import ReadStatement, ReadText
from services.sor.post_facts import QuoteMatch, WordMatch
from services.sor.report import SorEvidence


def evidence_of(request: SorRequest, read: ReadStatement) -> Iterator[SorEvidence]:
    """In the order of the texts: quotations, words, quotations that are nowhere, items."""
    for text in read.texts:
        for quote in text.facts.quotes:
            yield _of_post("quote", text, quote)
        for word in text.facts.shared:
            yield _of_post("word", text, word)
        for span in text.facts.missing:
            start, end = text.normalized.original(*span)
            yield SorEvidence(
                kind="quote_not_found",
                start=start,
                end=end,
                text=text.text[start:end],
                field=text.field,
            )
        yield from _of_items(text)


def _of_post(kind: str, text: ReadText, found: QuoteMatch | WordMatch) -> SorEvidence:
    start, end = text.normalized.original(*found.statement)
    return SorEvidence.model_validate(
        {
            "kind": kind,
            "start": start,
            "end": end,
            "text": text.text[start:end],
            "field": text.field,
            "post_start": found.post[0],
            "post_end": found.post[1],
        }
    )


def _of_items(text: ReadText) -> Iterator[SorEvidence]:
    for one in text.disclosed:
        start, end = text.normalized.original(*one.span)
        yield SorEvidence.model_validate(
            {
                "kind": one.item,
                "start": start,
                "end": end,
                "text": text.text[start:end],
                "value": 1.0,
                "field": text.field,
                "route": one.route,
            }
        )
