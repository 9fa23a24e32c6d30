"""Made conversations for `bench.haf`: four reasons each, all stages, a log-probability a word.

Reasons are of 16 words, a stage adds one or two. Decisions come from a few sentences, as in real
responses: of the released ones' decision pairs a third is distinct.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from bench.similarity_pairs import VOCABULARY
from services.haf.contract import HafRequest

REASONS, WORDS, TEXT_WORDS = 4, 16, 24
ENOUGH = (
    "No, additional reasons are not required.",
    "Decision: The given reasons are sufficient.",
)
MORE = (
    "Yes, additional reasons are required to justify why the TEXT is toxic.",
    "Decision: Additional reason is required to justify why the TEXT is toxic.",
)


def made_requests(count: int) -> list[HafRequest]:
    """Samples with brought responses, variant `reference`."""
    rng = np.random.default_rng(0)
    return [_request(rng) for _ in range(count)]


def _request(rng: np.random.Generator) -> HafRequest:
    individual = [
        _response(rng, _pick(rng, MORE if place % 2 else ENOUGH), place % 2)
        for place in range(REASONS)
    ]
    return HafRequest.model_validate(
        {
            "text": _sentence(rng, TEXT_WORDS),
            "variant": "reference",
            "responses": {
                "justify": _response(rng, "The given TEXT is toxic.", REASONS),
                "internal": _response(rng, _pick(rng, MORE), 2),
                "external": _response(rng, _pick(rng, MORE), 1),
                "individual": individual,
            },
        }
    )


def _pick(rng: np.random.Generator, sentences: tuple[str, ...]) -> str:
    return sentences[int(rng.integers(len(sentences)))]


def _sentence(rng: np.random.Generator, words: int) -> str:
    return " ".join(str(word) for word in rng.choice(VOCABULARY.split(), words)) + "."


def _response(rng: np.random.Generator, decision: str, reasons: int) -> dict[str, Any]:
    listed = [f"{place}. {_sentence(rng, WORDS)}" for place in range(1, reasons + 1)]
    text = "\n".join([decision, "", *listed]).strip()
    tokens = re.findall(r"\s*\S+", text)
    values = [-float(value) for value in rng.exponential(0.4, len(tokens))]
    return {"text": text, "logprobs": {"tokens": tokens, "token_logprobs": values}}
