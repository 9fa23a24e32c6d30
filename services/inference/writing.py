"""Text from a causal model in this process: generated, or given and scored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from services.inference.beside import beside_the_batcher
from services.inference.causal_pass import CausalPass, CausalRow, sharing
from services.inference.drafts import Draft, seeded
from services.inference.encoding import Encoder, Token
from services.inference.generating import generate
from services.inference.microbatcher import MicroBatcher
from services.inference.variations import Ids
from services.inference.weights import Weights
from shared.calls import Completion, Prompt, Sampling, WrittenToken
from shared.errors import BadInput
from shared.job_context import awaited
from shared.models import Floats


class LocalWriter:
    """The part of `shared.models.Writer` that answers; its subclass says who it is."""

    def __init__(
        self,
        weights: Weights,
        causal: CausalPass,
        batcher: MicroBatcher[CausalRow, Floats],
        encoder: Encoder,
    ) -> None:
        self._longest = weights.longest
        self._causal = causal
        self._batcher = batcher
        self._encoder = encoder

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        """A completion of each prompt. Prompt i is drawn with (seed, its `draw`, else i), whatever
        the others are.

        Prompts go through the model together, padded on the left: logits move by rounding (1e-5
        in float32), which changes a draw only where it falls that close to a border.
        """
        drafts = [
            Draft(self._prompt(prompt), self._encoder, seeded(sampling.seed, _draw(prompt, place)))
            for place, prompt in enumerate(prompts)
        ]
        with beside_the_batcher(self._causal.name):
            generate(self._causal, drafts, sampling, self._longest)
        return [draft.completion() for draft in drafts]

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        """Token log-probabilities of each given completion after its prompt."""
        pairs = [
            self._pair(prompt, written)
            for prompt, written in zip(prompts, completions, strict=True)
        ]
        groups: dict[Ids, list[int]] = defaultdict(list)
        for place, (before, tokens) in enumerate(pairs):
            if tokens:
                groups[before].append(place)
        answers: dict[int, Floats] = {}
        futures = [
            self._batcher.submit(sharing([_row(*pairs[place]) for place in places]))
            for places in groups.values()
        ]
        for places, found in zip(groups.values(), awaited(futures), strict=True):
            answers.update(zip(places, found, strict=True))
        return [
            _completion(written, tokens, answers.get(place))
            for place, (written, (_, tokens)) in enumerate(zip(completions, pairs, strict=True))
        ]

    def _prompt(self, prompt: Prompt) -> Ids:
        ids = tuple(token.id for token in self._encoder.tokens(self._encoder.context(prompt)))
        if len(ids) + 1 > self._longest:
            raise BadInput(
                f"a prompt has {len(ids)} tokens, the model reads {self._longest}",
                pointer="/prompts",
            )
        return ids

    def _pair(self, prompt: Prompt, written: str) -> tuple[Ids, list[Token]]:
        context = self._encoder.context(prompt)
        before = tuple(token.id for token in self._encoder.tokens(context))
        tokens = self._encoder.continuation(context, written) if written else []
        if len(before) + len(tokens) - 1 > self._longest:
            raise BadInput(
                f"a prompt and its completion have {len(before) + len(tokens)} tokens, the model "
                f"reads {self._longest}",
                pointer="/completions",
            )
        return before, tokens


def _draw(prompt: Prompt, place: int) -> int:
    return place if prompt.draw is None else prompt.draw


def _row(before: Ids, tokens: Sequence[Token]) -> CausalRow:
    followed = tuple(token.id for token in tokens)
    return CausalRow((), before + followed[:-1], followed=followed)


def _completion(written: str, tokens: Sequence[Token], logprobs: Floats | None) -> Completion:
    values = [] if logprobs is None else logprobs.tolist()
    return Completion(
        text=written,
        tokens=tuple(
            WrittenToken(id=token.id, start=token.start, end=token.end, logprob=value)
            for token, value in zip(tokens, values, strict=True)
        ),
        finish="given",
    )
