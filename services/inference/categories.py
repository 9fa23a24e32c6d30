"""What a guard names beside its label: its own answer, written out and searched for its categories.

They are evidence, and no part of P. Source: specs "models" §3.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.inference.causal_prompt import CausalReading
from services.inference.generated_text import GeneratedText, prompt_generator
from services.inference.generation_queue import GenerationQueue
from services.inference.tokenization import Encoder
from shared.contracts.calls import Sampling
from shared.contracts.judgement import Judgement
from shared.models.guard_categories import (
    CATEGORY_TOKENS,
    is_written,
    named_categories,
    with_only_category,
)

GREEDY = Sampling.model_construct(
    temperature=0.0, top_p=1.0, max_tokens=CATEGORY_TOKENS, stop=(), seed=0
)


def with_categories(
    readings: Sequence[CausalReading],
    judged: Sequence[Judgement],
    model: tuple[GenerationQueue, Encoder],
    least: Mapping[str, float],
) -> list[Judgement]:
    """(N,) judgements with the categories that the model names after each prompt.

    model: what it writes with, and its tokenizer. least: label → P from which its entry
    decides it.
    """
    tables = [one.prompt.table if one.prompt else None for one in readings]
    generation, encoder = model
    drafts = {
        place: GeneratedText(reading.tokens.ids, encoder, prompt_generator(0, 0))
        for place, reading in enumerate(readings)
        if is_written(tables[place]) and judged[place].unread is None and not reading.reasons
    }
    generation.finish(list(drafts.values()), GREEDY)
    found = [with_only_category(*one, least) for one in zip(judged, tables, strict=True)]
    for place, draft in drafts.items():
        named = named_categories(tables[place], draft.text)
        found[place] = judged[place].model_copy(update={"categories": named})
    return found
