"""What a guard names beside its label: its own answer, written out and searched for its categories.

They are evidence, and no part of P. Source: specs "models" §3.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.inference.causal_pass import CausalPass
from services.inference.causal_prompt import CausalReading
from services.inference.generation import GeneratedText, generate, prompt_generator
from services.inference.tokenization import Encoder
from services.weights.batcher import device_run
from shared.models.calls import Sampling
from shared.models.guard_categories import (
    CATEGORY_TOKENS,
    is_written,
    named_categories,
    with_only_category,
)
from shared.models.judgement import Judgement

GREEDY = Sampling.model_construct(
    temperature=0.0, top_p=1.0, max_tokens=CATEGORY_TOKENS, stop=(), seed=0
)


def with_categories(
    readings: Sequence[CausalReading],
    judged: Sequence[Judgement],
    model: tuple[CausalPass, Encoder, int],
    least: Mapping[str, float],
) -> list[Judgement]:
    """(N,) judgements with the categories that the model names after each prompt.

    model: with its tokenizer and the tokens that it reads. least: label → P from which its entry
    decides it.
    """
    tables = [one.prompt.table if one.prompt else None for one in readings]
    causal, encoder, longest = model
    drafts = {
        place: GeneratedText(reading.tokens.ids, encoder, prompt_generator(0, 0))
        for place, reading in enumerate(readings)
        if is_written(tables[place]) and judged[place].unread is None and not reading.reasons
    }
    if drafts:
        with device_run(causal.name):
            generate(causal, list(drafts.values()), GREEDY, longest)
    found = [with_only_category(*one, least) for one in zip(judged, tables, strict=True)]
    for place, draft in drafts.items():
        named = named_categories(tables[place], draft.text)
        found[place] = judged[place].model_copy(update={"categories": named})
    return found
