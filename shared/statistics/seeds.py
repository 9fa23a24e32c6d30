"""Random generators keyed by content: neither a batch nor the order of its lines moves a draw.

Both are counter-based (Philox) under a SHA-256 of the seed and of what is drawn for.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np


def generator(seed: int, *about: object) -> np.random.Generator:
    """about: what JSON can hold; of the text that is drawn for, and of the purpose."""
    digest = hashlib.sha256(json.dumps([seed, *about]).encode()).digest()
    return np.random.Generator(np.random.Philox(key=np.frombuffer(digest[:16], dtype="<u8")))


def generator_1_0(seed: int, *content: str) -> np.random.Generator:
    """As version 1.0 of HateXScore, HAF and FTC draws: the key is a seed sequence."""
    key = "\n".join((str(seed), *content)).encode("utf-8", "surrogatepass")
    words = np.frombuffer(hashlib.sha256(key).digest(), dtype=np.uint32)
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(words.tolist())))
