"""What an adapter answers to examples, before the temperature: for its calibration and its card.

Rows travel as they do in the service (see `packing` and `row_by_row`), so the numbers of a card are
those of the shipped model to the last bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from services.inference.embedded.examples import Example
from services.inference.embedded.tokens import padded, tokenized
from services.inference.packing import kind
from services.inference.row_by_row import RowByRow
from shared.models import Floats

LONGEST = 512  # tokens that the base reads
BATCH = 64

Ask = Callable[[Sequence[Example]], Floats]  # examples to (N, L) logits


@torch.inference_mode()
def logits(model: Any, examples: Sequence[Example]) -> Floats:
    """(N, L) raw outputs of the head.

    model: an adapter merged into its base, in evaluation mode.
    """
    rows = tokenized(examples, LONGEST)
    places: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        places[kind(len(row.ids), LONGEST)].append(place)
    answers = np.empty((len(rows), model.config.num_labels))
    for (width, _), alike in places.items():
        for start in range(0, len(alike), BATCH):
            batch = alike[start : start + BATCH]
            with RowByRow(len(batch)):
                raw = model(**padded([rows[place] for place in batch], width)).logits
            answers[batch] = raw.double().numpy()
    return answers
