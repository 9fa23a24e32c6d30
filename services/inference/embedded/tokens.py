"""Examples as the base reads them: one sequence, or two with the second marked as such.

Source: Devlin et al., BERT, arXiv:1810.04805, §3.2 (segments).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import AutoTokenizer

from services.inference.embedded.examples import Example
from shared.embedded_base import base_folder


@dataclass(frozen=True)
class Row:
    """A tokenized example. `segments`: 0 for the first sequence, 1 for the second."""

    ids: list[int]
    segments: list[int]


def tokenized(examples: Sequence[Example], longest: int) -> list[Row]:
    """A row for each example, cut to `longest` tokens; ValueError where only some are pairs."""
    tokenizer = AutoTokenizer.from_pretrained(base_folder(), local_files_only=True)
    texts = [example.text for example in examples]
    pairs = [example.text_pair for example in examples if example.text_pair is not None]
    if pairs and len(pairs) != len(texts):
        raise ValueError("some examples are pairs of texts and some are not")
    read = tokenizer(texts, pairs or None, truncation=True, max_length=longest)
    return [
        Row(ids, segments)
        for ids, segments in zip(read["input_ids"], read["token_type_ids"], strict=True)
    ]


def padded(rows: Sequence[Row], width: int) -> dict[str, torch.Tensor]:
    """What the model is called with, each (N, width); BERT pads with 0."""
    lengths = torch.tensor([len(row.ids) for row in rows])
    return {
        "input_ids": _filled([row.ids for row in rows], width),
        "attention_mask": (torch.arange(width) < lengths[:, None]).long(),
        "token_type_ids": _filled([row.segments for row in rows], width),
    }


def _filled(rows: Sequence[list[int]], width: int) -> torch.Tensor:
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])
