"""A text while it is being generated: its tokens, its characters, and its own random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch

from services.inference.encoding import Encoder
from services.inference.variations import Ids
from shared.calls import Completion, WrittenToken

CUT_CHARACTER = "\ufffd"  # what the first bytes of a character decode to


def seeded(seed: int, place: int) -> torch.Generator:
    """The generator of prompt number `place`: independent of every other prompt."""
    state = np.random.SeedSequence([seed, place]).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state >> np.uint64(1)))


class Draft:
    """What follows one prompt. Offsets: a token covers the characters that it completed."""

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
        """What was written."""
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
