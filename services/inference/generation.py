"""Text from a causal model in this process: generated, or given and scored.

The sampling loop is our own: `transformers.generate` cannot seed each row by itself. The device's
lock is taken for each step, so that rows of other callers pass in between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from services.inference.causal_pass import CausalPass, CausalRow, share_prefix
from services.inference.tokenization import EncodedToken, Encoder, Ids
from services.weights.batcher import MicroBatcher, device_run
from services.weights.loader import LoadedModel
from shared.errors import BadInput
from shared.job_context import check, wait_all
from shared.models.calls import Completion, Prompt, Sampling, WrittenToken
from shared.models.ports import Floats

TOGETHER = 32  # prompts; their caches are held all at once


def generate(
    causal: CausalPass, drafts: Sequence[GeneratedText], sampling: Sampling, longest: int
) -> None:
    """Finish every draft. Prompts of similar length go together."""
    order = sorted(drafts, key=lambda draft: draft.length)
    for first in range(0, len(order), TOGETHER):
        _Batch(causal, order[first : first + TOGETHER], sampling, longest).finish()


class _Batch:
    """Drafts that grow together; finished ones leave."""

    def __init__(
        self, causal: CausalPass, drafts: list[GeneratedText], sampling: Sampling, longest: int
    ) -> None:
        self._causal, self._sampling, self._longest = causal, sampling, longest
        self._drafts = drafts
        self._ends = ends_of(causal.model)
        self._past: Any = None
        self._ids, self._mask = self._pad_prompts()

    def _pad_prompts(self) -> tuple[Tensor, Tensor]:
        """(N, T) prompts with padding on the left, (N, T) 0 where they are padded."""
        width = max(draft.length for draft in self._drafts)
        gaps = [width - draft.length for draft in self._drafts]
        ids = [[0] * gap + [*draft.prompt] for gap, draft in zip(gaps, self._drafts, strict=True)]
        mask = [[0] * gap + [1] * (width - gap) for gap in gaps]
        device = self._causal.model.device
        return torch.tensor(ids, device=device), torch.tensor(mask, device=device)

    @torch.no_grad()
    def finish(self) -> None:
        """Step until no draft is open."""
        for step in range(1, self._sampling.max_tokens + 1):
            check()
            chosen = self._step()
            for draft in self._drafts:
                if step == self._sampling.max_tokens or draft.length >= self._longest:
                    draft.end("length")
            self._remove(chosen)
            if not self._drafts:
                return

    def _step(self) -> Tensor:
        """(N,) the next token of each draft."""
        positions = (self._mask.cumsum(dim=1) - 1).clamp(min=0)[:, -self._ids.shape[1] :]
        with self._causal.lock:
            states, self._past = self._causal.readout.states(
                1,
                input_ids=self._ids,
                attention_mask=self._mask,
                position_ids=positions,
                past_key_values=self._past,
                use_cache=True,
            )
            logits = self._causal.readout.logits(states[:, -1])
        uniforms = torch.tensor([draft.uniform() for draft in self._drafts], dtype=torch.float64)
        chosen = draw(logits, self._sampling, uniforms)
        own = logits.log_softmax(dim=1).gather(1, chosen[:, None])[:, 0].tolist()
        for draft, token, logprob in zip(self._drafts, chosen.tolist(), own, strict=True):
            if token in self._ends:
                draft.end("stop")
            else:
                draft.add(token, logprob, self._sampling.stop)
        return chosen

    def _remove(self, chosen: Tensor) -> None:
        open_ = [place for place, draft in enumerate(self._drafts) if not draft.finish]
        if len(open_) < len(self._drafts) and open_:
            self._past.batch_select_indices(torch.tensor(open_, device=chosen.device))
        self._drafts = [self._drafts[place] for place in open_]
        mask = self._mask[open_]
        self._mask = torch.cat([mask, mask.new_ones(len(open_), 1)], dim=1)
        self._ids = chosen[open_, None]


def draw(logits: Tensor, sampling: Sampling, uniforms: Tensor) -> Tensor:
    """(N,) tokens by inversion of the nucleus's distribution function.

    logits: (N, V). uniforms: (N,) in [0, 1). Temperature first, then the smallest set of most
    likely tokens whose probability reaches `top_p`; temperature 0 takes the most likely token.
    """
    if sampling.temperature == 0:
        return logits.argmax(dim=1)
    ordered, tokens = (logits / sampling.temperature).sort(dim=1, descending=True, stable=True)
    shares = ordered.double().softmax(dim=1)
    before = shares.cumsum(dim=1) - shares
    shares = shares * (before < sampling.top_p)
    reached = shares.cumsum(dim=1)
    threshold = uniforms.to(logits.device)[:, None] * reached[:, -1:]
    place = (reached <= threshold).sum(dim=1).clamp(max=logits.shape[1] - 1)
    return tokens.gather(1, place[:, None])[:, 0]


def ends_of(model: Any) -> set[int]:
    """The tokens with which the model ends a text."""
    named = model.generation_config.eos_token_id
    if named is None:
        named = model.config.eos_token_id
    return set(named if isinstance(named, list) else [] if named is None else [named])


CUT_CHARACTER = "\ufffd"  # what the first bytes of a character decode to


def prompt_generator(seed: int, place: int) -> torch.Generator:
    """The generator of prompt number `place`: independent of every other prompt."""
    state = np.random.SeedSequence([seed, place]).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state >> np.uint64(1)))


class GeneratedText:
    """Offsets: a token covers the characters that it completed."""

    def __init__(self, prompt: Ids, encoder: Encoder, generator: torch.Generator) -> None:
        self.prompt = prompt
        self.finish: Literal["stop", "length"] | None = None
        self.text = ""
        self._encoder = encoder
        self._generator = generator
        self._ids: list[int] = []
        self._logprobs: list[float] = []
        self._spans: list[tuple[int, int]] = []
        self._context, self._read = 0, 0  # tokens decoded again, tokens that are text already

    @property
    def length(self) -> int:
        """Tokens of the prompt and so far."""
        return len(self.prompt) + len(self._ids)

    def uniform(self) -> float:
        """The next random number, in [0, 1)."""
        return float(torch.rand((), generator=self._generator, dtype=torch.float64))

    def add(self, token: int, logprob: float, stop: Sequence[str]) -> None:
        """One more token; ends where a stop string stands in the text, which is cut before it."""
        self._ids.append(token)
        self._logprobs.append(logprob)
        before = len(self.text)
        self._decode()
        self._spans.append((before, len(self.text)))
        reach = before - max(map(len, stop), default=0)
        found = [self.text.find(string, max(0, reach)) for string in stop]
        ends = [place for place in found if place >= 0]
        if ends:
            self._end(min(ends))

    def end(self, why: Literal["stop", "length"]) -> None:
        """No more tokens. Characters that are still incomplete are written as U+FFFD."""
        if not self.finish:
            self._decode(whatever=True)
            if self._spans:
                self._spans[-1] = (self._spans[-1][0], len(self.text))
            self.finish = why

    def completion(self) -> Completion:
        return Completion(
            text=self.text,
            tokens=tuple(
                WrittenToken(id=token, start=start, end=end, logprob=min(0.0, logprob))
                for token, (start, end), logprob in zip(
                    self._ids, self._spans, self._logprobs, strict=True
                )
            ),
            finish=self.finish or "length",
        )

    def _decode(self, *, whatever: bool = False) -> None:
        """Only the last tokens are decoded, after those before them, which decide on spaces."""
        known = self._encoder.text(self._ids[self._context : self._read])
        more = self._encoder.text(self._ids[self._context :])
        if len(more) > len(known) and (whatever or not more.endswith(CUT_CHARACTER)):
            self.text += more[len(known) :]
            self._context, self._read = self._read, len(self._ids)

    def _end(self, cut: int) -> None:
        kept = sum(start < cut for start, _ in self._spans)
        self.text = self.text[:cut]
        self._ids, self._logprobs = self._ids[:kept], self._logprobs[:kept]
        self._spans = [(start, min(end, cut)) for start, end in self._spans[:kept]]
        self.finish = "stop"


class LocalWriter:
    """The part of `shared.models.ports.Writer` that answers; its subclass says who it is."""

    def __init__(
        self,
        weights: LoadedModel,
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
            GeneratedText(
                self._prompt(prompt),
                self._encoder,
                prompt_generator(sampling.seed, _draw(prompt, place)),
            )
            for place, prompt in enumerate(prompts)
        ]
        with device_run(self._causal.name):
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
            self._batcher.submit(share_prefix([_row(*pairs[place]) for place in places]))
            for places in groups.values()
        ]
        for places, found in zip(groups.values(), wait_all(futures), strict=True):
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

    def _pair(self, prompt: Prompt, written: str) -> tuple[Ids, list[EncodedToken]]:
        context = self._encoder.context(prompt)
        before = tuple(token.id for token in self._encoder.tokens(context))
        tokens = self._encoder.completion_tokens(context, written) if written else []
        if len(before) + len(tokens) - 1 > self._longest:
            raise BadInput(
                f"a prompt and its completion have {len(before) + len(tokens)} tokens, the model "
                f"reads {self._longest}",
                pointer="/completions",
            )
        return before, tokens


def _draw(prompt: Prompt, place: int) -> int:
    return place if prompt.draw is None else prompt.draw


def _row(before: Ids, tokens: Sequence[EncodedToken]) -> CausalRow:
    followed = tuple(token.id for token in tokens)
    return CausalRow((), before + followed[:-1], followed=followed)


def _completion(
    written: str, tokens: Sequence[EncodedToken], logprobs: Floats | None
) -> Completion:
    values = [] if logprobs is None else logprobs.tolist()
    return Completion(
        text=written,
        tokens=tuple(
            WrittenToken(id=token.id, start=token.start, end=token.end, logprob=value)
            for token, value in zip(tokens, values, strict=True)
        ),
        finish="given",
    )
