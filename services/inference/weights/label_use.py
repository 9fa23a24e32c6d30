"""Warnings about a classifier's labels: names without meaning, and labels that no metric uses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.contracts.labels import LabelMapping

UNNAMED = re.compile(r"LABEL_\d+")  # as Transformers names outputs that nobody named
ASKED_LABELS = (
    "HateXScore needs hateful and non-hateful, FTC needs entailment, neutral and contradiction"
)
OWN_LABELS = f"labels of its own: {ASKED_LABELS}"
UNNAMED_OUTPUTS = (
    "these names do not show what the outputs mean. For HateXScore, set labels = "
    '{ hateful = [...], "non-hateful" = [...] } in the entry. Or add the model again with '
    "--replace and, if this is right, --label hateful=LABEL_1 --label non-hateful=LABEL_0"
)


def doubts(mapping: LabelMapping) -> Iterator[str]:
    """Yield the reason why metrics that need labels may refuse the model, at most one sentence."""
    if any(UNNAMED.fullmatch(label) for label in mapping.by_label):
        yield UNNAMED_OUTPUTS
    elif mapping.task == "free":
        yield OWN_LABELS
