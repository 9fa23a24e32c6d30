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
    consistency = create_score.sync(
        "consistency",
        client=client,
        prefer=WAIT,
        body=ConsistencyRequest.from_dict(bodies["consistency"]),
    )
    cot = create_score.sync(
        "cot2el", client=client, prefer=WAIT, body=Cot2ElRequest.from_dict(bodies["cot2el"])
    )
    ftc = create_score.sync(
        "ftc", client=client, prefer=WAIT, body=FtcRequest.from_dict(bodies["ftc"])
    )
    haf = create_score.sync(
        "haf", client=client, prefer=WAIT, body=HafRequest.from_dict(bodies["haf"])
    )
    hate = create_score.sync(
        "hatexscore",
        client=client,
        prefer=WAIT,
        body=HatexscoreRequest.from_dict(bodies["hatexscore"]),
    )
    hlv = create_score.sync(
        "hlv", client=client, prefer=WAIT, body=HlvRequest.from_dict(bodies["hlv"])
    )
    ice = create_score.sync(
        "ice", client=client, prefer=WAIT, body=IceRequest.from_dict(bodies["ice"])
    )
    sor = create_score.sync(
        "sor", client=client, prefer=WAIT, body=SorRequest.from_dict(bodies["sor"])
    )
    scored = set()
    for job, kind in (
        (cot, Cot2ElResult), (ftc, FtcResult), (haf, HafResult), (hate, HatexscoreResult),
        (hlv, HlvResult), (ice, IceResult), (sor, SorResult), (consistency, ConsistencyResult),
    ):  # fmt: skip
        found = ended(client, job, kind)
        scored.add(found.metric.value)
        print(f"python {found.metric.value}: {found.result.verdict.value}, {found.result.score}")
    assert scored == set(bodies), set(bodies) - scored
    result: IceResult = ended(client, ice, IceResult).result
    print(f"python ice: win rate {result.components.tests[0].win_rate}")
    assert isinstance(hate, Job)
    return hate.id


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
    refused = create_score.sync("ice", client=client, body=IceRequest(text=""))
    assert isinstance(refused, Problem), refused
    assert refused.status == 422, refused
    print(f"python refused: {refused.error.message}")


if __name__ == "__main__":
    main(*sys.argv[1:])
