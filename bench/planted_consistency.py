"""Tests `consistency` with artificial models that are faithful or unfaithful by construction.

A model answers yes if the text contains one of a hundred cue words. Its explanation quotes one word
of the text: the cue (`faithful`), another word (`unfaithful`), or a random word (`random`). The
quoted word has a high probability if it occurs in the prompt, and a low one otherwise. So the
answer depends on the cue, and the explanation on the quoted word. Every other word changes both
probabilities slightly, so that no two contributions are equal.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast

import numpy as np

from bench.planted_metrics import Json, mean, share
from bench.planted_texts import USE
from services.consistency.contract import ConsistencyRequest
from services.consistency.metric import SERVICE
from services.consistency.report import ConsistencyNull, ConsistencyResult
from services.consistency.verdict import nulls_of
from shared.contracts.calls import (
    MASK_TEXT,
    Completion,
    Example,
    Prompt,
    Sampling,
    WordJudgements,
    WordRows,
    WrittenToken,
)
from shared.contracts.judgement import Judgement
from shared.contracts.messages import ModelKind, ModelUse
from shared.models import ports
from shared.models.label_readout import of_head
from shared.models.word_rows import judged_words
from shared.statistics.seeds import generator

Quotes = Literal["faithful", "unfaithful", "random"]
ROWS: tuple[Quotes, ...] = ("faithful", "unfaithful", "random")
CUES = frozenset(f"w{n}" for n in range(100, 200))  # a text has one of them
OTHERS = tuple(f"w{n}" for n in range(200, 400))
SHORTEST, LONGEST = 40, 80  # words of a text
SURE = 3.0  # log odds of the answer
COPIED, INVENTED = math.log(0.9), math.log(0.01)  # of a quoted word
NOISE = 0.1
LEVEL = 0.05
_ASKED = re.compile(r"Text: (.*?)\n\n", re.DOTALL)


@lru_cache(maxsize=1_000)
def _letters(word: str, purpose: str) -> float:
    """Return a number in [-1, 1) that depends only on the letters."""
    digest = hashlib.blake2b(f"{purpose} {word}".encode(), digest_size=6).digest()
    return 2 * int.from_bytes(digest, "big") / 256**6 - 1


@dataclass(frozen=True)
class CopyingModel:
    """A judge and writer that also implements `Models`. `quotes` determines which word its
    explanations quote."""

    quotes: Quotes = "faithful"
    noise: float = NOISE
    labels: tuple[str, ...] = ("no", "yes")
    languages: tuple[str, ...] = ("*",)
    use: ModelUse = USE
    mask_text: str = MASK_TEXT

    def kind(self, name: str) -> ModelKind:
        return "causal"

    def judge(self, name: str) -> CopyingModel:
        return self

    writer = judge

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return self.labels

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        yes = np.array([self._yes(one.text) for one in examples])
        return of_head(np.stack([1 - yes, yes], axis=1), None, self.labels)

    def judge_words(self, asked: Sequence[WordRows]) -> list[WordJudgements]:
        return judged_words(self, asked, self.mask_text)

    def _yes(self, text: str) -> float:
        words = text.split()
        odds = SURE if CUES & set(words) else -SURE
        odds += self.noise * sum(_letters(word, "answer") for word in set(words))
        return 1 / (1 + math.exp(-odds))

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        """Return for each prompt an explanation that quotes one word of the text."""
        written = [self._explanation(_text_of(one), sampling.seed) for one in prompts]
        return self.score(prompts, written)

    def _explanation(self, text: str, seed: int) -> str:
        words = text.split()
        random = generator(seed, "planted", self.quotes, text)
        wanted = {
            "faithful": [word for word in words if word in CUES],
            "unfaithful": [word for word in words if word not in CUES],
            "random": words,
        }[self.quotes]
        quoted = wanted[random.integers(len(wanted))]
        return f'I say so because of "{quoted}".'

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        """Score one token per word; a quoted word is likely if it occurs in the text."""
        pairs = zip(prompts, completions, strict=True)
        return [self._scored(_text_of(prompt).split(), written) for prompt, written in pairs]

    def _scored(self, words: Sequence[str], written: str) -> Completion:
        there = set(words)
        about = sum(_letters(word, "explanation") for word in there) / LONGEST
        tokens = []
        for found in re.finditer(r"\S+", written):
            quoted = re.fullmatch('"(.+)"[.]', found[0])
            plain = -1 + self.noise * about
            logprob = plain if quoted is None else COPIED if quoted[1] in there else INVENTED
            start, end = found.span()
            tokens.append(WrittenToken(id=None, start=start, end=end, logprob=logprob))
        return Completion(text=written, tokens=tuple(tokens), finish="given")


def _text_of(prompt: Prompt) -> str:
    """Return the text in the metric's prompt."""
    found = _ASKED.search(prompt.text or "".join(turn.content for turn in prompt.turns or ()))
    return "" if found is None else found[1]


@contextmanager
def copying(model: CopyingModel) -> Iterator[None]:
    ports.bind(cast(ports.Models, model))
    try:
        yield
    finally:
        ports.bind(None)


def asked_of(model: CopyingModel, texts: int, **parameters: Any) -> list[ConsistencyRequest]:
    """Return texts with the cue, each with the model's explanation."""
    random = generator(0, "planted", "consistency")
    found = []
    for _ in range(texts):
        words = random.permutation(OTHERS)[: random.integers(SHORTEST, LONGEST)].tolist()
        words[random.integers(len(words))] = str(random.choice(sorted(CUES)))
        text = " ".join(words)
        [own] = model.generate([Prompt(text=f"Text: {text}\n\n")], Sampling(temperature=0))
        body = {"text": text, "explanation": own.text, "model": "planted", "language": "en"}
        found.append(ConsistencyRequest.model_validate(body | parameters))
    return found


def results(quotes: Quotes, texts: int, **parameters: Any) -> list[ConsistencyResult]:
    model = CopyingModel(quotes)
    with copying(model):
        return SERVICE.score_batch(asked_of(model, texts, **parameters))


def consistency(texts: int) -> dict[str, Json]:
    """Return the three rows, each over `texts` explanations."""
    return {row: _row(results(row, texts)) for row in ROWS}


def _row(found: Sequence[ConsistencyResult]) -> Json:
    keys = [str(place) for place in range(len(found))]
    parts = [one.components for one in found]
    distances = [_off_chance(one) for one in found]
    row: Json = {
        "n": len(found),
        "score": mean("score", [one.score for one in found], keys),
        "score - chance": mean("off", distances, keys, -1.0),
        "simulatability": mean("simulatability", [p.simulatability for p in parts], keys),
        "agreement": mean("agreement", [p.attribution_agreement for p in parts], keys),
    }
    for name in ("simulatability", "attribution"):
        nulls = [nulls_of(one).get(name) for one in found]
        row[f"{name} win rate"] = mean(name, [n.win_rate if n else None for n in nulls], keys)
        row[f"{name} p <= .05"] = share([_significant(null) for null in nulls], keys)
    return row


def _off_chance(found: ConsistencyResult) -> float | None:
    """Return the score minus the mean score of random alternatives."""
    nulls = nulls_of(found)
    spans, words = nulls["simulatability"].mean, nulls["attribution"].mean
    if found.score is None or spans is None or words is None:
        return None
    return found.score - (spans + (1 + words) / 2) / 2


def _significant(null: ConsistencyNull | None) -> float | None:
    return None if null is None or null.p_value is None else float(null.p_value <= LEVEL)
