"""Requests and lines that kill, silence or never end, and lines that a database or a contract
stumbles over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.batches import URL
from tests.chaos.sending import CLIENTS, Json, Sent, bodies
from tests.chaos.services.poison.contract import ASKS, ENDLESS, LOOPS, POISON, SLEEPS, UNREADABLE
from tests.chaos.trial import Trial
from tests.end_to_end.batch import Ended, ended, patiently, started
from tests.end_to_end.load import submit
from tests.patience import looks
from tests.poison import planted, raw_values

ENDPOINT = "/v1/poison"
PATIENCE_SECONDS = 600
LEASE = {"LEASE": 20}
RUN = {"MAX_RUN": 20}
CODES = {POISON: "attempts-exhausted", ENDLESS: "too-costly"}
NEVER_END = (ASKS, LOOPS, SLEEPS)
FINAL = {"succeeded", "failed", "cancelled"}
STRANGE_SEED = 1_000_000  # of what is compared with nothing
PLACES = (("custom_id",), ("body", "text"), ("body", "metadata", "a"))


def send_poison(service: Trial, jobs: int) -> Sent:
    """A batch with the poison in the middle, to its end."""
    return _batch(service, jobs, POISON)


def send_endless(service: Trial, jobs: int) -> Sent:
    """A batch with the text that never ends in the middle, to its end."""
    return _batch(service, jobs, ENDLESS)


def send_endless_requests(service: Trial, jobs: int) -> Sent:
    """Interactive jobs, of which some never end, each in its own way."""
    asked = bodies(jobs)
    for number, text in enumerate(NEVER_END, 1):
        asked[number * jobs // (len(NEVER_END) + 1)] |= {"text": text}
    with service.client() as client, ThreadPoolExecutor(CLIENTS) as pool:
        ids = list(pool.map(lambda body: submit(client, body, ENDPOINT), asked))
        endless = [
            job_id for job_id, body in zip(ids, asked, strict=True) if body["text"] in NEVER_END
        ]
        ends = Counter(_code(_final(client, job_id)) for job_id in endless)
    seen = ", ".join(f"{number} ended as {code}" for code, number in ends.items())
    wrong = (seen,) * (ends != {"too-costly": len(NEVER_END)})
    return Sent(ids, seen, wrong)


def send_strange_lines(service: Trial, jobs: int) -> Sent:
    """A good batch, and beside it one for each value that some store, parser or contract does not
    like, in the line that is its second."""
    good = [_line(number, body) for number, body in enumerate(bodies(jobs))]
    with service.client() as client:
        batches = [(started(client, lines, endpoint)) for lines, endpoint in _strange_batches()]
        whole = ended(client, started(client, good, ENDPOINT), PATIENCE_SECONDS)
        strange = [ended(client, batch, PATIENCE_SECONDS) for batch in batches]
    broken = [fault for end in strange for fault in _unexplained(end)]
    if [one["custom_id"] for one in whole.output] != [one["custom_id"] for one in good]:
        broken.append(f"{len(good)} should succeed, {len(whole.output)} did")
    refused = sum(end.batch["status"] == "failed" for end in strange)
    seen = f"{refused} batches refused for their line 2, {len(strange) - refused} completed"
    ids = [job_id for end in (whole, *strange) for job_id in end.job_ids]
    return Sent(ids, seen, tuple(broken))


def _strange_batches() -> Iterator[tuple[list[Json | bytes], str]]:
    """Lines and endpoint of each: an innocent line, and the strange one."""
    body = bodies(1)[0] | {"metadata": {"a": "b"}}
    seeds = iter(range(STRANGE_SEED, 2 * STRANGE_SEED, 2))
    for place in PLACES:
        for _, raw in raw_values():
            seed = next(seeds)
            strange = _line(1, body | {"seed": seed + 1}, URL)
            yield [_line(0, body | {"seed": seed}, URL), planted(strange, place, raw).encode()], URL
    seed = next(seeds)
    unreadable = _line(1, body | {"seed": seed + 1, "text": UNREADABLE})
    yield [_line(0, body | {"seed": seed}), unreadable], ENDPOINT


def _unexplained(end: Ended) -> list[str]:
    """Of a batch with a strange line: whether it ended, and said why."""
    status = end.batch["status"]
    if status == "failed":
        faults = end.batch["errors"]["data"]
        return [f"a fault at {one['line']}: {one['code']}" for one in faults if one["line"] != 2]
    answered = len(end.output) + len(end.errors) == end.batch["request_counts"]["total"]
    return [] if status == "completed" and answered else [f"a strange batch is {status}"]


def _final(client: httpx.Client, job_id: str) -> Json:
    for _ in looks(PATIENCE_SECONDS, every=0.5):
        job: Json = patiently(client, "GET", f"/v1/jobs/{job_id}").json()
        if job["status"] in FINAL:
            return job
    raise TimeoutError(f"{job_id} does not end")


def _code(job: Json) -> str:
    """How it ended: a problem's last word, or the status."""
    error = job["error"] or {"type": job["status"]}
    return str(error["type"]).rpartition("#")[2]


def _batch(service: Trial, jobs: int, text: str) -> Sent:
    asked = bodies(jobs)
    poison = jobs // 2
    asked[poison] |= {"text": text}
    lines = [_line(number, body) for number, body in enumerate(asked)]
    with service.client() as client:
        found = ended(client, started(client, lines, ENDPOINT), PATIENCE_SECONDS)
    counts = found.batch["request_counts"]
    seen = f"{counts['completed']} lines in the output file, {counts['failed']} in the error file"
    return Sent(found.job_ids, seen, tuple(_broken(found, lines, poison, CODES[text])))


def _line(number: int, body: Json, url: str = ENDPOINT) -> Json:
    return {"custom_id": str(number), "method": "POST", "url": url, "body": body}


def _broken(found: Ended, lines: list[Json], poison: int, code: str) -> list[str]:
    innocent = [line["custom_id"] for line in lines if line["custom_id"] != str(poison)]
    failed = [(one["custom_id"], one["error"]["code"]) for one in found.errors]
    broken = []
    if [one["custom_id"] for one in found.output] != innocent:
        broken.append(f"{len(innocent)} should succeed, {len(found.output)} did")
    if failed != [(str(poison), code)]:
        broken.append(f"{len(failed)} lines in the error file: {failed[:3]}")
    if found.batch["status"] != "completed":
        broken.append(f"the batch is {found.batch['status']}")
    return broken
