"""Generation and scoring of text by a causal model in this process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from services.inference.causal_pass import LEAST_PREFIX, CausalPass, CausalRow, share_prefix
from services.inference.generated_text import GeneratedText, prompt_generator
from services.inference.generation_queue import GenerationQueue
from services.inference.tokenization import EncodedToken, Encoder, Ids, TokenContext
from services.inference.weights.batcher import MicroBatcher
from services.inference.weights.loader import LoadedModel
from shared.contracts.calls import Completion, Prompt, Sampling, WrittenToken
from shared.contracts.errors import BadInput
from shared.models.ports import Floats
from shared.queue.job_context import wait_all


@dataclass(frozen=True)
class ReadPrompt:
    context: TokenContext
    tokens: list[EncodedToken]

    @cached_property
    def ids(self) -> Ids:
        return tuple(token.id for token in self.tokens)


class LocalWriter:
    """Generates and scores text with a causal model in this process. Subclasses add the identity of
    the model."""

    def __init__(
        self,
        weights: LoadedModel,
        causal: CausalPass,
        batcher: MicroBatcher[CausalRow, Floats],
        encoder: Encoder,
    ) -> None:
        self._longest = weights.longest
        self._causal = causal
        self._generation = GenerationQueue(causal, weights.longest)
        self._batcher = batcher
        self._encoder = encoder

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        """Return a completion of each prompt. The random numbers of prompt i come from the seed and
        its `draw`, or i if that is None. Prompts of all callers share passes (`GenerationQueue`),
        which may change logits by rounding (1e-5 in float32)."""
        drafts = [
            GeneratedText(
                self._prompt(prompt),
                self._encoder,
                prompt_generator(sampling.seed, index if prompt.draw is None else prompt.draw),
            )
            for index, prompt in enumerate(prompts)
        ]
        self._generation.finish(drafts, sampling)
        return [draft.completion() for draft in drafts]

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        """Return token log-probabilities of each given completion after its prompt."""
        prompts_read = {prompt: self._read(prompt) for prompt in dict.fromkeys(prompts)}
        pairs = [
            (prompts_read[prompt].ids, self._completion_tokens(prompts_read[prompt], completion))
            for prompt, completion in zip(prompts, completions, strict=True)
        ]
        groups: dict[Ids, list[int]] = defaultdict(list)
        for index, (before, tokens) in enumerate(pairs):
            if tokens:
                groups[before].append(index)
        rows = [
            _rows(before, {index: pairs[index][1] for index in indices})
            for before, indices in groups.items()
        ]
        futures = [
            self._batcher.submit(_after(before, [row for row, _ in several]))
            for before, several in zip(groups, rows, strict=True)
        ]
        answers: dict[int, Floats] = {}
        for several, outputs in zip(rows, wait_all(futures), strict=True):
            for (row, indices), output in zip(several, outputs, strict=True):
                logprobs = (
                    [output] if row.followed else np.minimum(output[:-1, None] - output[-1], 0.0)
                )
                answers |= dict(zip(indices, logprobs, strict=True))
        return [
            _completion(completion, tokens, answers.get(index))
            for index, (completion, (_, tokens)) in enumerate(zip(completions, pairs, strict=True))
        ]

    def _prompt(self, prompt: Prompt) -> Ids:
        ids = tuple(token.id for token in self._encoder.tokens(self._encoder.context(prompt)))
        if len(ids) + 1 > self._longest:
            raise BadInput(
                f"a prompt has {len(ids)} tokens, but the model reads at most "
                f"{self._longest}; shorten it",
                pointer="/prompts",
            )
        return ids

    def _read(self, prompt: Prompt) -> ReadPrompt:
        context = self._encoder.context(prompt)
        return ReadPrompt(context, self._encoder.tokens(context))

    def _completion_tokens(self, prompt: ReadPrompt, completion: str) -> list[EncodedToken]:
        if not completion:
            return []
        tokens = self._encoder.completion_tokens(prompt.context, completion, prompt.tokens)
        if len(prompt.tokens) + len(tokens) - 1 > self._longest:
            raise BadInput(
                f"a prompt and its completion have {len(prompt.tokens) + len(tokens)} "
                f"tokens, but the model reads at most {self._longest}; shorten them",
                pointer="/completions",
            )
        return tokens


Completions = dict[int, Sequence[EncodedToken]]  # by the place of their pair


def _rows(before: Ids, completions: Completions) -> list[tuple[CausalRow, list[int]]]:
    """Return the rows that score the completions of one prompt, each with the indices of its
    completions. All completions of a single token share one row, which uses the prompt's last
    position."""
    single = {index: tokens[0].id for index, tokens in completions.items() if len(tokens) == 1}
    rows = [
        (CausalRow((), before + followed[:-1], followed=followed), [index])
        for index, tokens in completions.items()
        if len(followed := tuple(token.id for token in tokens)) > 1
    ]
    if single:
        single_row = CausalRow((), before, candidates=tuple(single.values()), whole=True)
        rows.append((single_row, list(single)))
    return rows


def _after(before: Ids, rows: list[CausalRow]) -> list[CausalRow]:
    """Move all but the last token of the prompt to the prefix of each row. Prompts with the same
    beginning then share the computation of the prefix."""
    if len(before) <= LEAST_PREFIX:
        return share_prefix(rows)
    end = len(before) - 1
    return [
        replace(row, prefix=row.rest[:end], rest=row.rest[end:], continued=True) for row in rows
    ]


def _completion(text: str, tokens: Sequence[EncodedToken], logprobs: Floats | None) -> Completion:
    values = [] if logprobs is None else logprobs.tolist()
    return Completion(
        text=text,
        tokens=tuple(
            WrittenToken(id=token.id, start=token.start, end=token.end, logprob=value)
            for token, value in zip(tokens, values, strict=True)
        ),
        finish="given",
    )
