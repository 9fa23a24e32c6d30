"""`make openapi`: docs/openapi.json, with a request and an answer of every operation; and
docs/answers.json, with the answers of every metric.

They are recorded from a running service. Ids, times, secrets and keys of texts are replaced by
constant ones and pictures by empty ones, so that the file changes only where an answer does. Texts
are the examples of the contracts.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from services.gateway.app import create_app
from services.gateway.openapi import operations
from services.gateway.routes.judgements import FILES, LINES
from services.registry import contracts, metrics
from shared.contracts.service import MetricContract, ReportedContract
from shared.process.settings import Settings
from tests.answers import CheckedClient
from tests.end_to_end.service import ROOT, serving
from tests.gateway.results import RECORDED, STORED
from tests.patience import SECONDS, eventually
from tests.receivers import Receiver, receiving

FINAL = {"completed", "failed", "expired", "cancelled"}
IDS = re.compile(r"\b(job|batch|file|we|msg|req|jdg|rq)_[0-9a-f]{32}\b")
SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]+")
EXAMPLE_SECRET = "whsec_dGhlIHNlY3JldCBvZiBhbiBleGFtcGxl"
MOMENT = 1_790_000_000  # unix seconds
LENGTHS = {"queued_seconds": 0.012, "run_seconds": 0.214, "milliseconds": 21}
CONSTANT = {
    "svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    "png_base64": "iVBORw0KGgo=",
    "text_key": "f4c0783df5bd97855fb96efc551182c4",  # depends on a key that each run makes
}
MOMENTS = frozenset({"created", "since", "at"})
MOST_MODELS = 2
MOST_LINES = 2
WAIT = {"Prefer": "wait=30"}
Json = dict[str, Any]


class Recorder:
    """A client that keeps the first good answer of each operation."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        description = client.get("/openapi.json").json()
        self.found: dict[str, Json] = {}
        self.operations = {
            operation["operationId"]: (method, path)
            for path, methods in description["paths"].items()
            for method, operation in methods.items()
        }
        self._ids: dict[str, str] = {}

    def ask(
        self, operation: str, *places: str, body: Any = None, name: str = "", **more: Any
    ) -> httpx.Response:
        """Call it and record it. places: for the path's parameters, in order. name: of the record,
        if the operation has several."""
        method, path = self.operations[operation]
        for place in places:
            path = re.sub(r"\{[a-z_]+\}", place, path, count=1)
        answer = self.client.request(method, path, json=body, **more)
        if answer.is_error:
            raise RuntimeError(f"{operation}: {answer.status_code} {answer.text}")
        kind = answer.headers.get("content-type", "").partition(";")[0]
        is_json = kind == "application/json"
        is_long = kind in ("text/html", "image/png")
        self.found.setdefault(name or operation, {
            "request": self.stable(body),
            "status": str(answer.status_code),
            "type": kind,
            "answer": self.stable(answer.json()) if is_json else
            None if is_long else self.stable(answer.text),
        })  # fmt: skip
        return answer

    def jobs_that_are(self, status: str) -> list[Json]:
        """The newest of this status, unrecorded."""
        found: list[Json] = self.client.get("/v1/jobs", params={"status": status}).json()["data"]
        return found

    def stable(self, node: Any, name: str = "") -> Any:
        """The same without what differs from run to run."""
        if isinstance(node, dict):
            return {key: self.stable(value, key) for key, value in node.items()}
        if isinstance(node, list):
            return [self.stable(value, name) for value in node]
        if isinstance(node, str):
            return CONSTANT.get(name) or self._words(node)
        if name in LENGTHS and node is not None:
            return LENGTHS[name]
        is_moment = name in MOMENTS or name.endswith(("_at", "_until"))
        return MOMENT if is_moment and isinstance(node, int) else node

    def _words(self, text: str) -> str:
        """Ids are numbered in the order in which they come up."""

        def number(found: re.Match[str]) -> str:
            made = f"{found[1]}_{len(self._ids) + 1:032x}"
            return self._ids.setdefault(found[0], made)

        said = SECRET.sub(EXAMPLE_SECRET, IDS.sub(number, text))
        said = re.sub(r"http://127\.0\.0\.1:\d+", "https://example.com", said)
        said = re.sub(r'"(at|\w+_at)":\d{10}', rf'"\1":{MOMENT}', said)
        return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "2026-09-21T14:13:20.000Z", said)


def first(contract: Any) -> Json:
    body: Json = next(iter(contract.examples.values()))
    return body


def record_jobs(recorder: Recorder) -> str:
    """Scores, reports and questions to models; the id of an ended job."""
    post = first(metrics()["hatexscore"])
    recorder.ask("create_score", "hatexscore", body=post, headers=WAIT)
    recorder.ask("create_scores", body={"metric": "hatexscore", "requests": [post, post]})
    for name, contract in contracts().items():
        if not isinstance(contract, MetricContract):
            asked_job = recorder.ask(f"ask_{name}", body=first(contract), headers=WAIT).json()
            if isinstance(contract, ReportedContract):
                asked = {"jobs": [asked_job["id"]], "resamples": 100}
                asked |= {"metric": name}
                recorder.ask("create_report", body=asked, name=f"report_{name}", headers=WAIT)
            continue
        body = first(contract)
        whole: Json = {"name": f"score_{name}", "params": {"expand": "details"}}
        recorder.ask("create_score", name, body=body, headers=WAIT, **whole)
        several = {"metric": name, "requests": [body, body]}
        made = recorder.ask("create_scores", body=several, headers=WAIT).json()["data"]
        asked = {"metric": name, "jobs": [job["id"] for job in made], "resamples": 100}
        recorder.ask("create_report", body=asked)
        recorder.ask("create_report", body=asked, name=f"report_{name}", headers=WAIT)
    job_id: str = made[0]["id"]
    recorder.ask("get_job", job_id)
    recorder.ask("list_jobs", params={"limit": 1})
    recorder.ask("get_job_events", job_id)
    return job_id


def record_cancelled(recorder: Recorder) -> None:
    """The last of so many jobs is still open when it is cancelled."""
    crowd = {"metric": "hatexscore", "requests": [first(metrics()["hatexscore"])] * 300}
    jobs = recorder.client.post("/v1/scores:batchCreate", json=crowd).json()["data"]
    cancelled = jobs[-1]["id"]
    recorder.ask("cancel_job", cancelled)
    recorder.ask("delete_job", cancelled)
    recorder.ask("delete_jobs", params={"metadata[user]": "u17"})


def record_batches(recorder: Recorder) -> str:
    """Files and batches; the id of one that has ended."""
    contract = metrics()["hatexscore"]
    lines = [
        {"custom_id": f"post-{number}", "method": "POST", "url": contract.path, "body": body}
        for number, body in enumerate(contract.examples.values())
    ]
    content = "".join(f"{json.dumps(line)}\n" for line in lines)
    upload: Json = {"data": {"purpose": "batch"}, "files": {"file": ("posts.jsonl", content)}}
    file_id = recorder.ask("create_file", **upload).json()["id"]
    recorder.ask("get_file", file_id)
    recorder.ask("get_file_content", file_id)
    of_file = recorder.found["get_file_content"]
    of_file["answer"] = "".join(of_file["answer"].splitlines(keepends=True)[:MOST_LINES])
    recorder.ask("list_files", params={"limit": 1})
    asked = {"input_file_id": file_id, "endpoint": contract.path, "completion_window": "24h",
             "metadata": {"model": "v7"}}  # fmt: skip
    batch_id = recorder.ask("create_batch", body=asked).json()["id"]

    def has_ended() -> bool:
        return recorder.client.get(f"/v1/batches/{batch_id}").json()["status"] in FINAL

    eventually(has_ended)
    recorder.ask("get_batch", batch_id)
    recorder.ask("list_batches", params={"limit": 1})
    recorder.ask("get_batch_events", batch_id)
    recorder.ask("create_batch_report", batch_id)
    report = f"/v1/batches/{batch_id}/report"
    recorder.client.post(report, headers=WAIT).raise_for_status()
    recorder.ask("get_batch_report", batch_id)
    recorder.client.get(report, headers={"Accept": "text/csv"}).raise_for_status()
    again = recorder.client.post("/v1/batches", json=asked).json()["id"]
    recorder.ask("cancel_batch", again)
    other = recorder.client.post("/v1/files", **upload).json()["id"]
    recorder.ask("delete_file", other)
    return str(batch_id)


def record_webhooks(recorder: Recorder) -> None:
    """Of one job: the others have ended before, so that none of their events is sent, too."""
    eventually(lambda: not any(map(recorder.jobs_that_are, ("queued", "running"))))
    with receiving(Receiver()) as receiver:
        asked = {"url": receiver.url, "events": ["job.succeeded"], "description": "on-call"}
        endpoint = recorder.ask("create_webhook_endpoint", body=asked).json()["id"]
        recorder.ask("list_webhook_endpoints")
        recorder.ask("change_webhook_endpoint", endpoint, body={"description": "on-call team"})
        recorder.ask("rotate_webhook_secret", endpoint, body={"overlap_seconds": 3600})
        recorder.ask("test_webhook_endpoint", endpoint)
        contract = metrics()["hatexscore"]
        recorder.client.post(contract.path, json=first(contract), headers=WAIT)
        path = f"/v1/webhook-endpoints/{endpoint}/deliveries"

        def arrived() -> list[Json]:
            found = recorder.client.get(path).json()["data"]
            return [one for one in found if one["status"] == "succeeded"]

        delivery = eventually(arrived)[0]["id"]
        recorder.ask("list_webhook_deliveries", endpoint, params={"limit": 1})
        recorder.ask("replay_webhook_deliveries", endpoint, body={"delivery": delivery})
        recorder.ask("delete_webhook_endpoint", endpoint)


def record_judgements(recorder: Recorder, batch: str) -> None:
    """A queue of a line, its judgement, and what comes of it. batch: one that has ended."""
    asked = {"batch": batch, "name": "first look", "per_line": 2}
    queue = recorder.ask("create_review_queue", body=asked).json()["id"]
    recorder.ask("list_review_queues", params={"limit": 1})
    ann, ben = {"reviewer": "Ann"}, {"reviewer": "Ben"}
    item = recorder.ask("lease_review_item", queue, body=ann).json()["item"]
    said = {"verdict": "disagree", "human_score": 0.4}
    said |= {"spans": [{"of": "explanation", "start": 0, "end": 8}]}
    said |= {"note": "It quotes too much.", "blind": True}
    body = said | ann | {"queue": queue, "seconds": 8.5}
    made = recorder.ask("create_judgements", body=body | {"job_id": item["job_id"]}).json()["id"]
    recorder.client.post(
        f"/v1/review-queues/{queue}/lease", json={"skip": item["position"]} | ben
    ).raise_for_status()
    recorder.ask("get_review_queue", queue)
    recorder.ask("create_review_agreement", queue)
    agreement = f"/v1/review-queues/{queue}/agreement"
    while recorder.client.post(agreement, headers=WAIT).status_code == 202:
        pass  # each waits for the report
    recorder.ask("close_review_queue", queue)
    recorder.ask("list_judgements", params={"limit": 1})
    lines = ""
    for kind in (*FILES, LINES):
        answer = recorder.client.get(
            "/v1/judgements", params={"batch": batch}, headers={"Accept": kind}
        )
        lines = answer.raise_for_status().text
    recorder.client.post(
        "/v1/judgements",
        params={"source": "label-studio"},
        content=lines.replace("Ann", "Cy"),
        headers={"Content-Type": LINES},
    ).raise_for_status()
    recorder.ask("withdraw_judgement", made)


def record_models(recorder: Recorder) -> None:
    recorder.ask("get_health")
    recorder.ask("get_readiness")
    recorder.ask("get_explanation_schema")
    recorder.ask("list_models")
    listed = recorder.found["list_models"]["answer"]
    listed["data"] = listed["data"][:MOST_MODELS]


@contextmanager
def service() -> Iterator[httpx.Client]:
    """A client of a whole embedded service that sends webhooks to this machine."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = {"TOUCHSTONE_WEBHOOK_ALLOW": "127.0.0.1/32"}
        with (
            serving(Path(folder, "var"), **chosen) as running,
            CheckedClient(base_url=running.url, timeout=SECONDS) as client,
        ):
            yield client


def record() -> dict[str, Json]:
    """Return operation → its request and answer."""
    with service() as client:
        recorder = Recorder(client)
        record_jobs(recorder)
        record_models(recorder)
        record_cancelled(recorder)
        record_judgements(recorder, record_batches(recorder))
        record_webhooks(recorder)
    missing = sorted(recorder.operations.keys() - recorder.found.keys())
    if missing:
        raise RuntimeError(f"no example was recorded for {', '.join(missing)}")
    return recorder.found


def add_example(operation: Json, found: Json) -> None:
    """Add what was recorded to the operation's description. The contracts' examples stay."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None and "examples" not in body and found["request"] is not None:
        body["example"] = found["request"]
    answer = operation["responses"].get(found["status"], {}).get("content", {}).get(found["type"])
    if answer is not None and found["answer"] is not None:
        answer["example"] = found["answer"]


def main() -> None:
    """Write docs/openapi.json."""
    description = create_app(Settings()).openapi()
    found = record()
    for _, operation in operations(description):
        add_example(operation, found[operation["operationId"]])
    answers = {name: one["answer"] for name, one in sorted(found.items()) if one["answer"]}
    for file, content in ((STORED, description), (RECORDED, answers)):
        file.write_text(f"{json.dumps(content, ensure_ascii=False, indent=1)}\n", "utf-8")
    sys.stdout.write(f"{STORED.relative_to(ROOT)}: {len(found)} operations\n")


if __name__ == "__main__":
    main()
