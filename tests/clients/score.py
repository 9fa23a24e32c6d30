"""openapi-python-client: every metric, a batch, its report, and a refusal; types are checked."""

from __future__ import annotations

import json
import sys
import time
from io import BytesIO
from pathlib import Path
from typing import Any

from touchstone_client import Client
from touchstone_client.api.batches import create_batch, get_batch
from touchstone_client.api.files import create_file
from touchstone_client.api.jobs import get_job
from touchstone_client.api.reports import create_batch_report, create_report, get_batch_report
from touchstone_client.api.scores import create_score
from touchstone_client.models import (
    Batch,
    BatchReport,
    BatchReportRequest,
    BatchRequest,
    ConsistencyRequest,
    ConsistencyResult,
    Cot2ElRequest,
    Cot2ElResult,
    CreateFileBody,
    CreateFileBodyPurpose,
    CreateScoreMetric,
    FtcRequest,
    FtcResult,
    HafRequest,
    HafResult,
    HatexscoreRequest,
    HatexscoreResult,
    HlvRequest,
    HlvResult,
    IceRequest,
    IceResult,
    Job,
    Problem,
    SorRequest,
    SorResult,
    StoredFile,
)
from touchstone_client.models.batch_request_endpoint import BatchRequestEndpoint
from touchstone_client.types import File

WAIT = "wait=30"


def ended(client: Client, job: Any, kind: type[Any]) -> Any:
    """The job at its end, with a result of its metric's own type."""
    while isinstance(job, Job) and job.status.value in ("queued", "running"):
        time.sleep(0.5)
        job = get_job.sync(job.id, client=client)
    assert isinstance(job, Job), job
    assert isinstance(job.result, kind), job.error
    return job


def score(client: Client, bodies: dict[str, Any]) -> str:
    """One post a metric; the id of HateXScore's job."""
    requests: dict[str, tuple[type[Any], type[Any]]] = {
        "consistency": (ConsistencyRequest, ConsistencyResult),
        "cot2el": (Cot2ElRequest, Cot2ElResult),
        "ftc": (FtcRequest, FtcResult),
        "haf": (HafRequest, HafResult),
        "hatexscore": (HatexscoreRequest, HatexscoreResult),
        "hlv": (HlvRequest, HlvResult),
        "ice": (IceRequest, IceResult),
        "sor": (SorRequest, SorResult),
    }
    scored: dict[str, Any] = {}
    for name, (request, kind) in requests.items():
        job = create_score.sync(
            CreateScoreMetric(name),
            client=client,
            prefer=WAIT,
            body=request.from_dict(bodies[name]),
        )
        scored[name] = ended(client, job, kind)
        result = scored[name].result
        print(f"python {name}: {result.verdict.value}, {result.score}")
    assert scored.keys() == bodies.keys(), bodies.keys() - scored.keys()
    ice: IceResult = scored["ice"].result
    print(f"python ice: win rate {ice.components.tests[0].win_rate}")
    job_id: str = scored["hatexscore"].id
    return job_id


def report(client: Client, job_id: str) -> None:
    """A report on one job, typed."""
    asked = BatchReportRequest.from_dict(
        {"metric": "hatexscore", "jobs": [job_id], "resamples": 100}
    )
    job = create_report.sync(client=client, prefer=WAIT, body=asked)
    found: BatchReport = ended(client, job, BatchReport).result
    print(f"python report: {found.scored} of {found.score.of}")


def run_batch(client: Client, body: Any) -> None:
    """A file, its batch, its report."""
    line = {"custom_id": "a", "method": "POST", "url": "/v1/scores/hatexscore", "body": body}
    payload = BytesIO(f"{json.dumps(line)}\n".encode())
    upload = CreateFileBody(
        purpose=CreateFileBodyPurpose.BATCH, file=File(payload=payload, file_name="posts.jsonl")
    )
    file = create_file.sync(client=client, body=upload)
    assert isinstance(file, StoredFile), file
    asked = BatchRequest(
        input_file_id=file.id, endpoint=BatchRequestEndpoint("/v1/scores/hatexscore")
    )
    batch = create_batch.sync(client=client, body=asked)
    while isinstance(batch, Batch) and batch.completed_at is None and batch.failed_at is None:
        time.sleep(0.5)
        batch = get_batch.sync(batch.id, client=client)
    assert isinstance(batch, Batch), batch
    create_batch_report.sync(batch.id, client=client, prefer=WAIT)
    summed = get_batch_report.sync(batch.id, client=client)
    assert isinstance(summed, BatchReport), summed
    print(f"python batch: {batch.request_counts.completed} lines, {summed.score.value}")


def main(url: str, examples: str) -> None:
    bodies = json.loads(Path(examples).read_text("utf-8"))
    client = Client(base_url=url, timeout=120)  # type: ignore[arg-type]
    job_id = score(client, bodies)
    report(client, job_id)
    run_batch(client, bodies["hatexscore"])
    refused = create_score.sync(CreateScoreMetric.ICE, client=client, body=IceRequest(text=""))
    assert isinstance(refused, Problem), refused
    assert refused.status == 422, refused
    print(f"python refused: {refused.error.message}")


if __name__ == "__main__":
    main(*sys.argv[1:])
