"""The inputs and outputs of the trained reader, an encoder that answers seven questions about
prose. An input is the name of a question followed by the text. Each question has its own outputs,
whose probabilities sum to 1. Training and the service both create inputs with this module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from shared.models.catalogue.catalogue import READER
from shared.models.ports import Floats, models

Reading = Literal["verdict", "group", "stance", "answer", "refusal", "reasons", "polarity"]

LABELS: dict[Reading, tuple[str, ...]] = {
    "verdict": ("hateful", "non-hateful", "none"),
    "group": ("attacked", "defended", "mentioned"),
    "stance": ("toxic", "maybe", "non-toxic", "unclear"),
    "answer": ("sufficient", "insufficient", "doubtful", "irrelevant", "unclear"),
    "refusal": ("refusal", "no-refusal"),
    "reasons": (
        "restriction",
        "territorial_scope",
        "duration",
        "facts",
        "automated_detection",
        "automated_decision",
        "ground",
        "explanation",
        "internal_complaint",
        "out_of_court_settlement",
        "court",
        "none",
    ),
    "polarity": ("for", "against", "neither"),
}
OUTPUTS = tuple(f"{reading}: {label}" for reading, labels in LABELS.items() for label in labels)
PLACES = {  # of a reading's outputs
    reading: slice(
        OUTPUTS.index(f"{reading}: {labels[0]}"), OUTPUTS.index(f"{reading}: {labels[-1]}") + 1
    )
    for reading, labels in LABELS.items()
}
DISCLOSED = 0.5  # the probability from which a sentence makes a disclosure
QUOTE = "[quote]"  # in place of words of the post


def ask_group(text: str, start: int, end: int) -> str:
    """Return the input that asks whether the group named at text[start:end] is attacked."""
    return f"group: {text[:start]}[[{text[start:end]}]]{text[end:]}"


def ask(reading: Reading, asked: Sequence[str]) -> Floats:
    """Classify texts with the trained reader, a text classifier. `reading` selects the
    classification task. Returns probabilities of shape (inputs, labels), in the order of
    `LABELS[reading]`.

    Each row sums to 1, except for `reasons`, where several labels can be correct. There each label
    is compared with "none" only, as p / (p + p(none)).

    `asked` holds the inputs, each prefixed with the name of the task. Raises Unavailable if the
    reader cannot be used now."""
    if not asked:
        return np.zeros((0, len(LABELS[reading])))
    distinct = list(dict.fromkeys(asked))
    rows = models().classifier(READER.name).probabilities(distinct)[:, PLACES[reading]]
    index_of = {text: at for at, text in enumerate(distinct)}
    selected: Floats = rows[[index_of[text] for text in asked]]
    selected /= (
        selected + selected[:, -1:] if reading == "reasons" else selected.sum(axis=1, keepdims=True)
    )
    return selected
