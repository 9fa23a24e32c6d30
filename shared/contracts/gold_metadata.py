"""Reads gold labels, marked passages and ratings from the metadata of a line. Pure functions."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from shared.contracts.gold import GoldColumns

Span = tuple[int, int]
MOST_RATING = 1e6  # no scale has more; squares and sums stay far from overflow
COLUMNS = ("label", "rationale", "rating")
WORDS = {
    **dict.fromkeys(("yes", "true", "agree", "accept", "accepted"), 1.0),
    **dict.fromkeys(("no", "false", "disagree", "reject", "rejected"), 0.0),
}
BETWEEN = ";"  # ratings of one cell
_BETWEEN = re.compile(r"[\s_-]+")


def fold_label(label: str) -> str:
    """Normalise a label to compare it with others."""
    return _BETWEEN.sub("-", label.strip().casefold())


def has_gold(metadata: Mapping[str, str], columns: GoldColumns) -> bool:
    """Return True if a line has gold labels, passages or ratings."""
    return any(has_column(metadata, columns, name) for name in COLUMNS)


def has_column(metadata: Mapping[str, str], columns: GoldColumns, name: str) -> bool:
    """Return True if a line has a value in this column."""
    if name == "rating":
        return any(_person(key, columns) is not None for key in metadata)
    return getattr(columns, name) in metadata


def _person(key: str, columns: GoldColumns) -> str | None:
    """Return the person in a rating key, "" for a list of people, or None for another key."""
    if key == columns.rating:
        return ""
    before, between, after = key.partition(f"{columns.rating}_")
    return after if between and after and not before else None


def gold_label(metadata: Mapping[str, str], columns: GoldColumns) -> str | None:
    label = metadata.get(columns.label, "").strip()
    return label or None


def gold_spans(metadata: Mapping[str, str], columns: GoldColumns) -> list[Span] | None:
    """Return the passages people marked, or None. Raises ValueError for an invalid list."""
    written = metadata.get(columns.rationale, "").strip()
    if not written:
        return None
    passages = _json(written)
    if not isinstance(passages, list):
        raise ValueError("marked passages must be a JSON list, as in [[0, 5], [8, 12]]")
    spans = []
    for passage in passages:
        pair = [passage.get("start"), passage.get("end")] if isinstance(passage, dict) else passage
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError("a marked passage must be a pair [start, end]")
        start, end = pair
        if type(start) is not int or type(end) is not int or not 0 <= start <= end:
            raise ValueError(
                "a marked passage must start at 0 or later, and must not end before its start"
            )
        spans.append((start, end))
    return spans


def ratings(metadata: Mapping[str, str], columns: GoldColumns) -> dict[str, float]:
    """Return ratings by person. In a list of ratings, people are numbered from 1. Raises ValueError
    for a rating that cannot be parsed."""
    by_person: dict[str, float] = {}
    for key, written in metadata.items():
        person = _person(key, columns)
        if person is None or not written.strip():
            continue
        if person:
            by_person[person] = _rating(written)
            continue
        listed = [
            rating if rating.strip() else None for rating in written.split(BETWEEN)
        ]  # `4; ; 5`
        if written.lstrip().startswith("["):
            listed = _json(written)
            if not isinstance(listed, list):
                raise ValueError("several ratings must be a JSON list, as in [4, null, 5]")
        numbered = enumerate(listed, 1)  # None stands for who rated nothing
        by_person |= {
            str(number): _rating(rating) for number, rating in numbered if rating is not None
        }
    return by_person


def _rating(written: Any) -> float:
    word = str(written).strip().casefold()
    number = WORDS[word] if word in WORDS else float(word)
    if not math.isfinite(number) or abs(number) > MOST_RATING:
        raise ValueError(
            f"a rating must be a number, and its absolute value at most {MOST_RATING:.0e}"
        )
    return number


def _json(written: str) -> Any:
    try:
        return json.loads(written)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
