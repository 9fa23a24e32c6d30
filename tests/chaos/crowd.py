"""Scenario 21: a tenant with more open batches, and dearer requests, than there is time for."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.batches import URL
from tests.chaos.sending import Json, Sent, bodies
from tests.chaos.trial import CROWD, OTHER, Trial
from tests.end_to_end.batch import Ended, ended, patiently, started

BATCHES, EXPENSIVE = 60, 16
FEWEST_LINES = 2
FEW_LINES = 3
PATIENCE_SECONDS = 1_800
LOOK_SECONDS = 5.0  # at each batch: sixty that look all the time are another flood than this
MAX_CHARACTERS, QUOTATIONS = 20_000, 200  # as many as a request may have
DRAWS = 2_000_000 // MAX_CHARACTERS  # at most, in so long a text
FIRST_SEED = 1_000_000  # of what is compared with nothing


def send_crowd(service: Trial, jobs: int) -> Sent:
    """Its batches, to their ends, and its requests, which are cancelled then; meanwhile the other
    tenant has a small batch."""
    asked = bodies(max(jobs, BATCHES * FEWEST_LINES))
    with service.client(CROWD) as crowd, service.client(OTHER) as other:
        alone = _few(other)
        batches = [started(crowd, _lines(asked[n::BATCHES]), URL) for n in range(BATCHES)]
        expensive = [_posted(crowd, most_expensive(seed)) for seed in range(EXPENSIVE)]
        beside = _few(other)
        with ThreadPoolExecutor(BATCHES) as pool:
            ends = list(
                pool.map(lambda one: ended(crowd, one, PATIENCE_SECONDS, LOOK_SECONDS), batches)
            )
        for job_id in expensive:
            patiently(crowd, "POST", f"/v1/jobs/{job_id}/cancel")  # 409: it has ended
    ids = [job_id for end in ends for job_id in end.job_ids]
    wrong = BATCHES - sum(map(_is_complete, ends))
    seen = f"the other's batch of {FEW_LINES} lines took {alone:.1f} s alone, {beside:.1f} s beside"
    return Sent([*ids, *expensive], seen, (f"{wrong} batches",) * bool(wrong), tenant=CROWD)


def most_expensive(number: int) -> Json:
    """As much as one request of HateXScore may ask for: quotations that are nearly in a long text,
    many draws."""
    word = "".join(chr(ord("a") + int(digit)) for digit in str(number))
    sentence = f"those people {word} are ruining our town and nobody stops them "
    text = (sentence * (MAX_CHARACTERS // len(sentence) + 1))[:MAX_CHARACTERS]
    quotations = " ".join(f'"peoples {word} rruin our twn {n}"' for n in range(QUOTATIONS))
    return {
        "text": text,
        "explanation": f"{quotations} Conclusion: hateful."[-MAX_CHARACTERS:],
        "options": {"control_draws": DRAWS},
        "seed": FIRST_SEED + number,
    }


def _few(client: httpx.Client) -> float:
    """Seconds of a small batch, from its upload to its download."""
    begun = time.monotonic()
    found = ended(client, started(client, _lines(bodies(FEW_LINES)), URL), PATIENCE_SECONDS)
    if not _is_complete(found):
        raise RuntimeError(f"a small batch is {found.batch}")
    return time.monotonic() - begun


def _posted(client: httpx.Client, body: Json) -> str:
    answer = patiently(client, "POST", URL, json=body)
    if answer.status_code != 202:
        raise RuntimeError(f"not admissible: {answer.text}")
    return str(answer.json()["id"])


def _lines(asked: list[Json]) -> list[Json]:
    """Of a batch; the seed names the line."""
    return [
        {"custom_id": str(body["seed"]), "method": "POST", "url": URL, "body": body}
        for body in asked
    ]


def _is_complete(end: Ended) -> bool:
    return end.batch["request_counts"]["total"] == len(end.output) and not end.errors
