"""Reads the categories that a guard model (a model for moderation) names with its label, such as
S10. They are evidence and never change the probabilities."""

from __future__ import annotations

import re
from collections.abc import Mapping

from shared.contracts.judgement import Judgement
from shared.contracts.labels import predict_label
from shared.contracts.prompt_table import PromptTable

CATEGORY_TOKENS = 48  # tokens of an answer: the label and a line of categories
HATEFUL = "hateful"


def named_categories(table: PromptTable | None, answer: str) -> Mapping[str, str]:
    """Return the categories that the guard model's answer names, each with its description."""
    categories = (table and table.categories) or {}
    return {
        name: words
        for name, words in categories.items()
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", answer)
    }


def is_written(table: PromptTable | None) -> bool:
    """Return True if the guard model writes categories in its answer. A guard with a single
    category does not."""
    return table is not None and len(table.categories or ()) > 1


def with_only_category(
    judged: Judgement, table: PromptTable | None, least: Mapping[str, float]
) -> Judgement:
    """If the text is judged hateful and the guard model has only one category, add that category to
    the judgement. `least` maps labels to their decision thresholds."""
    categories = (table and table.categories) or {}
    if len(categories) != 1 or judged.probabilities is None or HATEFUL not in judged.labels:
        return judged
    if predict_label(judged.labels, judged.probabilities, least) != HATEFUL:
        return judged
    return judged.model_copy(update={"categories": dict(categories)})
