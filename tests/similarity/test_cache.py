"""The cache is bounded, hit, counted, and safe between threads and models."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from services.similarity.cache import ENTRY_BYTES, Cache, key_of
from shared.contracts.calls import Pair
from shared.contracts.messages import ModelUse
from tests.promises import as_promised
from tests.similarity.conftest import Make
from tests.similarity.rows import PAIRS, counted

USE = ModelUse(name="m", revision="local", sha256="0" * 64, device="cpu", dtype="float32")


def count(name: str) -> float:
    metric = f"touchstone_similarity_cache_{name}_total"
    return REGISTRY.get_sample_value(metric, {"kind": "cross-encoder"}) or 0


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), max_size=60))
def test_no_bound_is_ever_passed(kept: list[tuple[int, int]]) -> None:
    cache = Cache(entries=8, size=8 * (ENTRY_BYTES + 40))
    sizes: dict[bytes, int] = {}
    for key, width in kept:
        cache.put({bytes([key]): np.zeros(width, np.float32)})
        sizes[bytes([key])] = ENTRY_BYTES + 4 * width
        assert len(cache) <= 8
        assert cache.size <= 8 * (ENTRY_BYTES + 40)
    assert cache.size == sum(sizes[key] for key in cache.get_cached(sizes))


def test_the_least_recently_used_goes_first() -> None:
    cache = Cache(entries=2)
    one = np.zeros(1, np.float32)
    cache.put({b"a": one, b"b": one})
    cache.get_cached([b"a"])
    cache.put({b"c": one})
    assert cache.get_cached([b"a", b"b", b"c"]).keys() == {b"a", b"c"}


def test_keys_tell_models_and_pairs_apart() -> None:
    half = USE.model_copy(update={"dtype": "float16"})
    keys = {
        key_of(use, texts)
        for use in (USE, half)
        for texts in ("ab", ("a", "b"), ("b", "a"), ("ab", ""), ("", "ab"))
    }
    assert len(keys) == 10


def test_hits_and_misses_are_counted(cross_folder: Path, made: Make) -> None:
    tiny = made(cross_folder, "cross-encoder")
    hits, misses = count("hits"), count("misses")
    tiny.similarities(PAIRS[:3] + PAIRS[:3])
    tiny.similarities(PAIRS[:5])
    assert (count("hits") - hits, count("misses") - misses) == (3, 5)


def test_more_than_the_cache_holds_is_still_answered(cross_folder: Path, made: Make) -> None:
    cache = Cache(entries=4)
    small, other = made(cross_folder, "cross-encoder", cache), made(cross_folder, "cross-encoder")
    assert as_promised(small.use, small.similarities(PAIRS), other.similarities(PAIRS))
    assert len(cache) == 4


def test_threads_share_the_work(cross_folder: Path, made: Make) -> None:
    tiny = made(cross_folder, "cross-encoder")
    rows = counted(tiny)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(tiny.similarities, [PAIRS] * 8))
    assert sum(rows) == len(PAIRS)
    assert all(np.array_equal(answer, answers[0]) for answer in answers)


def test_what_is_kept_cannot_be_written_to(cross_folder: Path, made: Make) -> None:
    cache = Cache()
    tiny = made(cross_folder, "cross-encoder", cache)
    tiny.similarities([Pair(a="a", b="b")])
    kept = cache.get_cached([key_of(tiny.use, ("a", "b"))])
    assert [vector.flags.writeable for vector in kept.values()] == [False]
