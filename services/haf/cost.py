"""How much work a HAF request asks for, as far as its sizes tell.

What a model will write, and which of it are reasons, nobody knows before: of that the estimate is
only likely. The exact count stands in `affordable`, once the responses are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from services.haf.responses import ChatLogprobs, CompletionLogprobs, Response, Responses
from shared.work import Size, Work, words_of

if TYPE_CHECKING:
    from services.haf.contract import HafRequest

REASONS = 4  # that a model usually gives
STAGES = 3  # prompts beside the single reasons: JUSTIFY and twice UPHOLD-REASON
CHARACTERS_A_TOKEN = 4
SECONDS_A_CHARACTER = 2e-5  # of responses: sentences, lists, stances


def cost(request: HafRequest, reads: int) -> Sequence[Work]:
    """Prompts and answers of a model, or the comparisons that brought responses need."""
    if request.responses is not None:
        return tuple(_brought(request.responses, reads))
    return tuple(_generated(request))


def _generated(request: HafRequest) -> Iterator[Work]:
    samples = Size("`samples`", request.samples, "/samples")
    text = Size("tokens of `text`", max(1, words_of(request.text)), "/text")
    yield Work((samples, text))  # JUSTIFY is asked in any case
    later = STAGES + REASONS + request.permute_reasons
    prompts = Size("prompts (`permute_reasons` and stages)", later, "/permute_reasons")
    written = Size("`max_tokens`", request.generation.max_tokens, "/generation/max_tokens")
    yield Work((samples, prompts, written), certain=False)


def _brought(responses: Responses, reads: int) -> Iterator[Work]:
    """Each statement is compared with itself without each of its tokens: its square."""
    every = [
        responses.justify,
        *(one for one in (responses.internal, responses.external) if one is not None),
        *(one for one in responses.individual or () if one is not None),
    ]
    characters = Size("characters of `responses`", sum(len(one.text) for one in every))
    yield Work((characters,), "characters", seconds_each=SECONDS_A_CHARACTER)
    pairs = sum(map(_tokens, every))
    if pairs:
        longest = max(len(one.text) for one in every) / CHARACTERS_A_TOKEN / REASONS
        tokens = Size("tokens of a statement", max(1.0, min(reads, longest)))
        yield Work((Size("tokens of `responses`", pairs), tokens), certain=False)


def _tokens(response: Response) -> int:
    if response.tokens is not None:
        return len(response.tokens)
    match response.logprobs:
        case ChatLogprobs(content=content):
            return len(content)
        case CompletionLogprobs(tokens=tokens):
            return len(tokens)
    return 0
