"""Guesses which request field each column of a table belongs to."""

# Made by sdk/generate.py from shared/contracts/column_names.py; do not edit.

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

ID = "custom_id"
IDS = (ID, "id")
METADATA = "metadata"
SYNONYMS = {
    "text": ("post", "comment", "content", "body", "message", "tweet"),
    "explanation": ("rationale", "reason", "why"),
    "decision": ("predicted_label", "prediction", "predicted", "verdict", "label"),
    "premise": ("sentence1",),
    "hypothesis": ("sentence2",),
}
DECISION = "decision"  # its first synonym counts: `label` may be a person's
PARTS = ("probabilities.original", "probabilities.masked")  # fields that are part of an object
GOLD = ("gold", "gold_rationale", "rating")  # the defaults of a report's `gold`
RATING_OF = "rating_"  # one column per person
_BETWEEN = re.compile(r"[\s_-]+")


def plain_name(column: str) -> str:
    """Return the name in lower case with `_` between its words: `Predicted Label` is
    `predicted_label`."""
    return _BETWEEN.sub("_", column.strip().lower())


def is_gold(column: str) -> bool:
    """Return True if the column holds human labels, passages or ratings."""
    return column in GOLD or (column.startswith(RATING_OF) and column != RATING_OF)


def guess_columns(fields: Collection[str], names: Sequence[str]) -> dict[str, str]:
    """Guess the column for each field of a request, ignoring case. A synonym is used only if a
    single column matches. For the decision, the best-ranked synonym is used instead. A column `id`
    or `custom_id` is the custom id."""
    field_names = {*fields, *(part for part in PARTS if part.partition(".")[0] in fields)} - {
        METADATA
    }
    column_of = {name: name for name in names if name in field_names}
    for name in names:
        if (plain := plain_name(name)) in field_names:
            column_of.setdefault(plain, name)
    for name in IDS:
        if name in names:
            column_of.setdefault(ID, name)
    for field, words in SYNONYMS.items():
        if field not in field_names or field in column_of:
            continue
        free = [name for name in names if name not in column_of.values() and not is_gold(name)]
        ranks = {name: rank for name in free if (rank := _rank(name, words)) is not None}
        best = [name for name, rank in ranks.items() if rank == min(ranks.values())]
        if len(best) == 1 and (len(ranks) == 1 or field == DECISION):
            column_of[field] = best[0]
    return column_of


def _rank(column: str, words: Sequence[str]) -> int | None:
    """Return the rank of the column's name among `words`, or None if no word matches. Lower ranks
    are better: equal names rank before names that contain a word."""
    plain = plain_name(column)
    if plain in words:
        return words.index(plain)
    parts = set(re.findall("[a-z]+", plain))
    if parts & {"id", "label"}:
        return None
    return next((len(words) + index for index, word in enumerate(words) if word in parts), None)
