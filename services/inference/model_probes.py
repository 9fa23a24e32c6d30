"""What a loaded model is asked before anybody relies on it. Source: specs "models" §2.1.

Five probes of a judge: does a neighbour in the batch move its answer; a text longer than it reads;
no text at all; a text of its own special tokens; a text in a language that it may not know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shared.errors import BadInput
from shared.models.calls import Example, Pair, Template
from shared.models.ports import Floats, Models

SENTENCE = "The weather in the old town was lovely today"
FOREIGN = "Das Wetter in der alten Stadt war heute wirklich sehr schön"
SPECIAL = "<s> </s> [CLS] [SEP] [MASK] [PAD] <|im_start|> <|im_end|> <|endoftext|> <start_of_turn>"
LONG = "word " * 4_000  # as long as a request's text may be
YES_OR_NO = Template(
    prefix="Is this friendly?\n", suffix="\nAnswer:", verbalizers={"yes": " yes", "no": " no"}
)
TOLERANCE = {"float32": 1e-5}  # of probabilities, between batches; other dtypes:
COARSE = 0.02
Rows = Callable[..., list[Floats]]  # of texts


@dataclass(frozen=True)
class Probed:
    """What a probe found. good: nobody need worry."""

    good: bool
    said: str


@dataclass(frozen=True)
class ModelAnswers:
    """A model's answers in this process. limit: tokens that it reads."""

    answer: str
    milliseconds: float
    limit: int | None
    probes: dict[str, Probed]


def asked(models: Models, name: str, dtype: str, languages: Sequence[str] | None) -> ModelAnswers:
    """One answer with its time, and the probes. Raises ScoringError where the answer fails."""
    if models.kind(name) in ("similarity", "cross-encoder"):
        return _similarity(models, name, TOLERANCE.get(dtype, COARSE))
    model: Any = models.judge(name)
    template = None if _is_judge(model) else YES_OR_NO

    def rows(*texts: str) -> list[Floats]:
        found = model.judge([Example(text=text, template=template) for text in texts])
        return [np.asarray(row, dtype=np.float64) for row in found]

    started = time.perf_counter()
    [row] = rows(SENTENCE)
    seconds = time.perf_counter() - started
    labels = model.labels_of(Example(text=SENTENCE, template=template))
    said = ", ".join(f"{label} {p:.3f}" for label, p in zip(labels, row, strict=True))
    [read] = model.tokens([Example(text=LONG, template=template)])
    states = "every language" if languages and "*" in languages else ", ".join(languages or ())
    probes = _of_texts(rows, TOLERANCE.get(dtype, COARSE))
    foreign = _probe(lambda: _believable(rows(FOREIGN)[0]))
    said_of_it = f"it answers; its entry states {states or 'no languages: add `languages`'}"
    probes["another language"] = Probed(foreign.good, said_of_it) if foreign.good else foreign
    return ModelAnswers(said, 1_000 * seconds, len(read.ids), probes)


def _is_judge(model: Any) -> bool:
    """Whether it tells labels of a text by itself; else it is asked in a template of ours."""
    try:
        model.labels_of(Example(text=SENTENCE))
    except BadInput:
        return False
    return True


def _of_texts(rows: Rows, tolerance: float) -> dict[str, Probed]:
    """The probes that every kind of model has."""
    return {
        "batch invariance": _probe(lambda: _steady(rows, tolerance)),
        "longer than it reads": _probe(lambda: _believable(rows(LONG)[0])),
        "an empty text": _probe(lambda: _believable(rows("")[0])),
        "special tokens": _probe(lambda: _believable(rows(SPECIAL)[0])),
    }


def _similarity(models: Models, name: str, tolerance: float) -> ModelAnswers:
    model = models.similarity(name)

    def values(*pairs: tuple[str, str]) -> Floats:
        return np.asarray(model.similarities([Pair(a=a, b=b) for a, b in pairs]))

    started = time.perf_counter()
    value = float(values((SENTENCE, FOREIGN))[0])
    seconds = time.perf_counter() - started

    def rows(*texts: str) -> list[Floats]:
        return [np.atleast_1d(one) for one in values(*((SENTENCE, text) for text in texts))]

    said = f"two sentences {value:.3f}"
    return ModelAnswers(said, 1_000 * seconds, None, _of_texts(rows, tolerance))


def _probe(look: Callable[[], Probed]) -> Probed:
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - a probe tells what goes wrong, whatever it is
        return Probed(False, f"{type(error).__name__}: {error}")


def _steady(rows: Rows, tolerance: float) -> Probed:
    """Whether a text is judged the same beside others."""
    [alone] = rows(SENTENCE)
    beside = rows(LONG[:600], SENTENCE, "short", FOREIGN)[1]
    moved = float(np.max(np.abs(alone - beside)))
    return Probed(moved <= tolerance, f"moves by {moved:.1e} beside other texts")


def _believable(row: Floats) -> Probed:
    """Whether these are probabilities."""
    good = bool(np.all(np.isfinite(row)) and np.all((row >= 0) & (row <= 1)))
    return Probed(good, ", ".join(f"{value:.3f}" for value in row))
