"""Random generators keyed by content, so that random draws for a line depend neither on the batch
nor on the order of its lines. Both generators are counter-based (Philox), with a key from the
SHA-256 of the seed and the content."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def generator(seed: int, *about: object) -> np.random.Generator:
    """Return the generator for a seed and a purpose. `about` holds JSON values that identify the
    purpose, such as the text."""
    digest = hashlib.sha256(json.dumps([seed, *about]).encode()).digest()
    return np.random.Generator(np.random.Philox(key=np.frombuffer(digest[:16], dtype="<u8")))


def generator_1_0(seed: int, *content: str) -> np.random.Generator:
    """Return the generator that version 1.0 of HateXScore, HAF and FTC used."""
    key = "\n".join((str(seed), *content)).encode("utf-8", "surrogatepass")
    words = np.frombuffer(hashlib.sha256(key).digest(), dtype=np.uint32)
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(words.tolist())))
