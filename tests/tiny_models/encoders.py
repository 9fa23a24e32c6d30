"""Encoders with a head: as many outputs, called and activated as the known model's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.inference.shapes import save_weights
from tests.tiny_models.vocabulary import byte_level, unigram, wordpiece

MULTI = "multi_label_classification"
JIGSAW = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
UNBIASED = (
    "toxicity", "severe_toxicity", "obscene", "identity_attack", "insult", "threat",
    "sexual_explicit", "male", "female", "homosexual_gay_or_lesbian", "christian", "jewish",
    "muslim", "black", "white", "psychiatric_or_mental_illness",
)  # fmt: skip
UNNAMED = ("LABEL_0", "LABEL_1")
WIDTH = {"hidden_size": 32, "num_attention_heads": 2, "num_hidden_layers": 2} | {
    "intermediate_size": 64
}
STEEP = 8  # weights are that much larger than at birth: random models are else nearly uniform


@dataclass(frozen=True)
class Encoder:
    """What a known model is, as far as its weights are left out. rows: of its position table."""

    architecture: str  # `Bert` for transformers.BertForSequenceClassification and BertConfig
    words: Callable[[], Any]
    outputs: tuple[str, ...]
    problem_type: str | None = None
    rows: int = 514
    segments: int = 1


def _bert(outputs: tuple[str, ...], problem_type: str | None = None) -> Encoder:
    return Encoder("Bert", wordpiece, outputs, problem_type, rows=512, segments=2)


def _roberta(outputs: tuple[str, ...], problem_type: str | None = None) -> Encoder:
    return Encoder("Roberta", byte_level, outputs, problem_type)


def _xlmr(outputs: tuple[str, ...], problem_type: str | None = None) -> Encoder:
    return Encoder("XLMRoberta", unigram, outputs, problem_type)


ENCODERS: dict[str, Encoder] = {
    "toxic-bert": _bert(JIGSAW, MULTI),
    "detoxify-unbiased": _roberta(UNBIASED, MULTI),
    "detoxify-multilingual": _xlmr(UNBIASED, MULTI),
    "hatexplain": _bert(("hate speech", "normal", "offensive")),
    "cardiff-hate": Encoder(
        "Roberta",
        lambda: byte_level(stated_limit=None),
        ("NOT-HATE", "HATE"),
    ),
    "dynabench": _roberta(("nothate", "hate")),
    "textdetox": _xlmr(UNNAMED),
    "granite-hap": _roberta(UNNAMED),
}


def save_encoder(folder: Path, known: Encoder, seed: int = 0) -> Path:
    """Write it as a hub repository would hold it."""
    import torch
    import transformers

    torch.manual_seed(seed)
    words = known.words()
    config = getattr(transformers, f"{known.architecture}Config")(
        vocab_size=len(words),
        max_position_embeddings=known.rows,
        type_vocab_size=known.segments,
        pad_token_id=words.pad_token_id,
        id2label=dict(enumerate(known.outputs)),
        label2id={name: place for place, name in enumerate(known.outputs)},
        problem_type=known.problem_type,
        **WIDTH,
    )
    model = getattr(transformers, f"{known.architecture}ForSequenceClassification")(config)
    return save_weights(folder, model, words, STEEP)
