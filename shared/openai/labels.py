"""An example as a question to a model that writes: which verbalizer would follow?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shared.calls import Example
from shared.errors import BadInput
from shared.models import Floats

Question = tuple[str, dict[str, str]]  # a text, and what would be written for each label


def question(example: Example) -> Question:
    """An example as a text, and what would be written for each label."""
    if example.template is None:
        raise BadInput("a causal model needs a template", pointer="/template")
    if example.text_pair is not None:
        raise BadInput("a causal model reads no pairs: use the template", pointer="/text_pair")
    template = example.template
    return template.prefix + example.text + template.suffix, template.verbalizers


def softmax(scores: Floats) -> Floats:
    """(L,) log-probabilities to probabilities over these labels alone, of sum 1."""
    shares = np.exp(scores - scores.max())
    return np.asarray(shares / shares.sum())


def check_distinct(verbalizers: Sequence[tuple[int, ...]]) -> None:
    """Raises BadInput where the model cannot tell two labels apart."""
    if len(set(verbalizers)) < len(verbalizers) or not all(verbalizers):
        raise BadInput(
            "two labels have verbalizers of the same tokens, or one has none",
            pointer="/template/verbalizers",
        )
