"""A text that a causal model generates: its tokens, offsets and log-probabilities.

Each text has a separate generator, so that its draws do not depend on other texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch

from services.inference.tokenization import Encoder, Ids
from shared.contracts.calls import Completion, WrittenToken

CUT_CHARACTER = "\ufffd"  # what the first bytes of a character decode to


def prompt_generator(seed: int, number: int) -> torch.Generator:
    state = np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state >> np.uint64(1)))


class GeneratedText:
    """A text that is being generated. The offsets of a token cover the characters that become
    complete with this token."""

    def __init__(self, prompt: Ids, encoder: Encoder, generator: torch.Generator) -> None:
        self.prompt = prompt
        self.finish: Literal["stop", "length"] | None = None
        self.text = ""
        self._encoder = encoder
        self._generator = generator
        self._drawn: float | None = None
        self._ids: list[int] = []
        self._logprobs: list[float] = []
        self._spans: list[tuple[int, int]] = []
        self._context, self._read = 0, 0  # tokens decoded again, tokens that are text already

    @property
    def ids(self) -> Ids:
        return (*self.prompt, *self._ids)

    @property
    def written(self) -> int:
        return len(self._ids)

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self._ids)

    def uniform(self) -> float:
        """Return the random number for the next token, in [0, 1). It does not change until a token
        is added."""
        if self._drawn is None:
            self._drawn = float(torch.rand((), generator=self._generator, dtype=torch.float64))
        return self._drawn

    def add(self, token: int, logprob: float, stop: Sequence[str]) -> None:
        """Add a token; a stop string ends the text and is cut off."""
        self._drawn = None
        self._ids.append(token)
        self._logprobs.append(logprob)
        before = len(self.text)
        self._decode()
        self._spans.append((before, len(self.text)))
        reach = before - max(map(len, stop), default=0)
        positions = [self.text.find(string, max(0, reach)) for string in stop]
        ends = [position for position in positions if position >= 0]
        if ends:
            cut = min(ends)
            count = sum(start < cut for start, _ in self._spans)
            self.text = self.text[:cut]
            self._ids, self._logprobs = self._ids[:count], self._logprobs[:count]
            self._spans = [(start, min(end, cut)) for start, end in self._spans[:count]]
            self.finish = "stop"

    def end(self, why: Literal["stop", "length"]) -> None:
        """End the text. Incomplete characters at its end become U+FFFD."""
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
        """Decode the last tokens, with preceding tokens because these determine the spaces.
        `whatever` also decodes an incomplete last character."""
        before = self._encoder.text(self._ids[self._context : self._read])
        more = self._encoder.text(self._ids[self._context :])
        if len(more) > len(before) and (whatever or not more.endswith(CUT_CHARACTER)):
            self.text += more[len(before) :]
            self._context, self._read = self._read, len(self._ids)
