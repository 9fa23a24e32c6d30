"""How many work at once changes nothing: real rows that share forward passes with strangers'."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from threading import Barrier
from typing import Any

import pytest

from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from tests.flat_requests import flat_request

score = SERVICE.score
score_batch = SERVICE.score_batch

THREADS, EACH = 8, 3
SENTENCE = "the garden was green after rain and people walk slowly under old windows today"
WORDS = SENTENCE.split()
POOL = ["we lost the match and went home", "bread and cheese on a warm evening"]
SHAPES: list[dict[str, Any]] = [
    {"attribution": ["attention", "gradient"], "k": [0.2, 0.5]},
    {"attribution": "integrated_gradients", "operators": ["mask_unk", "delete"], "draws": 20},
    {"rationale": [{"start": 0, "end": 3}], "operators": ["infill"], "infill_pool": POOL},
    {"attribution": "lime", "draws": 200},
    {"attribution": "gradient", "text_pair": "rain walks", "variant": "reference"},
]


def request(number: int) -> IceRequest:
    """Texts of many lengths, so that rows of different ones fill the same passes."""
    text = " ".join(WORDS[(number + 3 * place) % len(WORDS)] for place in range(2 + number % 11))
    shape = SHAPES[number % len(SHAPES)]
    return flat_request(IceRequest, {"text": text, "model": "m", "seed": number % 3, **shape})


@pytest.mark.usefixtures("encoder")
def test_eight_threads_say_what_one_says_byte_for_byte() -> None:
    batches = [[request(EACH * n + place) for place in range(EACH)] for n in range(THREADS)]
    begin = Barrier(THREADS)

    def together(batch: list[IceRequest]) -> list[str]:
        begin.wait()
        return [report.model_dump_json() for report in score_batch(batch)]

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(chain.from_iterable(pool.map(together, batches)))
    alone = [score(one).model_dump_json() for one in chain.from_iterable(batches)]
    assert found == alone
    assert len(set(alone)) == THREADS * EACH
