"""Labels that are read after the model has written its reasoning: `thinking = "before"`.

P depends on the drawn reasoning, so it is a mean over draws, of which each has a seed of its own.
What the model writes is text: a special token in it is read in pieces, and closes nothing.
Source: specs "models" §1.3, §3.1 (gpt-oss-safeguard).
"""

from __future__ import annotations

from dataclasses import dataclass

from services.inference.causal_pass import CausalPass
from services.inference.causal_reading import CausalReader, CausalReading
from services.inference.generation import GeneratedText, generate, seeded
from services.inference.label_prompt import Inserted, LabelPrompt
from services.inference.tokenization import Encoder, Ids, TokenContext
from services.weights.batcher import device_run
from shared.models.calls import Sampling

OPENS, CLOSES = "<think>", "</think>"  # as Qwen, DeepSeek and their like mark it


@dataclass(frozen=True)
class Reasoned:
    """An example's reading and one reasoning after it: what the label follows."""

    reading: CausalReading
    ids: Ids


@dataclass(frozen=True)
class Reasoner:
    """A causal model that writes before it is asked for a label."""

    causal: CausalPass
    encoder: Encoder
    reader: CausalReader
    longest: int

    def reasoned(self, reading: CausalReading, prompt: LabelPrompt) -> list[Reasoned]:
        """(draws,) the example with each of its reasonings. Raises BadInput."""
        table = prompt.table
        drafts = [
            GeneratedText(reading.tokens.ids, self.encoder, seeded(0, draw))
            for draw in range(table.draws)
        ]
        sampling = Sampling.model_construct(
            temperature=1.0, top_p=1.0, max_tokens=table.reasoning_tokens, stop=(CLOSES,), seed=0
        )
        with device_run(self.causal.name):
            generate(self.causal, drafts, sampling, self.longest)
        return [self._after(reading, prompt, draft) for draft in drafts]

    def _after(self, reading: CausalReading, prompt: LabelPrompt, draft: GeneratedText) -> Reasoned:
        written = draft.text.rstrip()
        opened = prompt.opens_reasoning or OPENS in written
        end = f"\n{CLOSES}\n\n" if opened else "\n"
        context = TokenContext(
            written + end + prompt.table.answer_prefix,
            special=False,
            inserted=(Inserted("text", 0, len(written)),),
        )
        tail = tuple(token.id for token in self.encoder.tokens(context))
        strings = self.reader.strings(context, prompt.verbalizers)
        most = max(len(one) for several in strings for one in several)
        room = self.longest - len(reading.tokens.ids) - most + 1
        tail = tail[-room:]  # read in pieces it may be longer than it was written
        own = CausalReading(
            reading.tokens, reading.labels, strings, reading.vocabulary, reading.first, prompt
        )
        return Reasoned(own, reading.tokens.ids + tail)
