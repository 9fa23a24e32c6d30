"""Parser for the form field in which a person marks words in a job's texts. Each line has offsets
(`explanation 12-20`, or `12-20` for the first text) or the words themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from services.gateway.judgement_views import with_elicited
from shared.contracts.errors import BadInput
from shared.ledger.jobs import Job
from shared.ledger.judgements import MOST_SPANS

TEXTS = ("text", "text_pair", "premise", "hypothesis", "question", "explanation", "statement")
OFFSETS = re.compile(r"(?:([a-z_]{1,40}) )?([0-9]{1,7})-([0-9]{1,7})")


def texts_to_mark(job: Job) -> dict[str, str]:
    """Return the texts in which a person can mark words, by field. It is empty if the texts were
    not kept."""
    texts = with_elicited(job.request, job.result)
    return {name: text for name in TEXTS if isinstance(text := texts.get(name), str)}


def parse_spans(typed: str, texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the marked words as the field `spans` of a judgement. Raises BadInput for words that
    occur nowhere in the texts, or more than once."""
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    if len(lines) > MOST_SPANS:
        raise BadInput(f"mark at most {MOST_SPANS} passages", pointer="/spans")
    return [_parse_line(line, texts) for line in lines]


def _parse_line(line: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the span that a line of the form describes, by its words or by its offsets. A line
    that occurs in a text is read as words, even if it looks like offsets. Raises BadInput."""
    places = []
    for name, text in texts.items():  # up to two places each, which may overlap
        start = text.find(line)
        if start >= 0:
            places.append((name, start))
            if (again := text.find(line, start + 1)) >= 0:
                places.append((name, again))
    if not places and (offsets := OFFSETS.fullmatch(line)):
        first = next(iter(texts), "text")
        return {"of": offsets[1] or first, "start": int(offsets[2]), "end": int(offsets[3])}
    if len(places) != 1:
        count = (
            "in no text"
            if not places
            else "more than once; add the position, for example text 12-20"
        )
        raise BadInput(f"the words {line[:80]!r} occur {count}", pointer="/spans")
    [(name, start)] = places
    return {"of": name, "start": start, "end": start + len(line)}


def marked_words(spans: Sequence[Mapping[str, Any]], job: Job) -> Iterator[str]:
    """Yield the marked words. Words of deleted texts are skipped."""
    texts = texts_to_mark(job)
    for span in spans:
        if words := texts.get(span["of"], "")[span["start"] : span["end"]]:
            yield words
