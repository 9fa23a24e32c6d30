"""What a guard names beside its label (S10, social_bias): evidence, never a part of P.

Source: specs "models" §3.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from shared.contracts.judgement import Judgement
from shared.contracts.labels import predict_label
from shared.contracts.prompt_table import PromptTable

CATEGORY_TOKENS = 48  # of an answer: the label and a line of categories
HATEFUL = "hateful"


def named_categories(table: PromptTable | None, answer: str) -> Mapping[str, str]:
    """Those of the guard's categories that stand in its answer as whole words → in words."""
    known = (table and table.categories) or {}
    return {
        name: words
        for name, words in known.items()
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", answer)
    }


def is_written(table: PromptTable | None) -> bool:
    """Whether the guard's answer tells them: where there is but one, it was asked about that."""
    return table is not None and len(table.categories or ()) > 1


def with_only_category(
    judged: Judgement, table: PromptTable | None, least: Mapping[str, float]
) -> Judgement:
    """With the one category that the guard was asked about, where it decides for it.

    least: label → P from which the guard's entry decides it.
    """
    known = (table and table.categories) or {}
    if len(known) != 1 or judged.probabilities is None or HATEFUL not in judged.labels:
        return judged
    if predict_label(judged.labels, judged.probabilities, least) != HATEFUL:
        return judged
    return judged.model_copy(update={"categories": dict(known)})
