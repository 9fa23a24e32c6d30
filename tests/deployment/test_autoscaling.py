"""A long batch makes KEDA start every worker that it may, and an empty ledger none."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, Engine, text

from services.gateway.server import render_metrics
from tests.deployment.manifests import Json, needs_helm, of_kind, rendered

LINES = 50_000  # of the largest batch; TOUCHSTONE_MAX_BATCH_LINES
BATCH = """
INSERT INTO batches (id, metric, endpoint, status, input_file_id, metadata, total, expires_at)
VALUES ('batch_x', 'hatexscore', '/x', 'in_progress', 'file_x', '{}', :total, now())
"""
JOBS = """
INSERT INTO jobs (id, metric, request, resend_at, batch_id)
SELECT 'job_' || number, :metric, '{}', now(), :batch FROM generate_series(1, :count) AS number
"""


def wanted(connection: Connection, scaler: Json) -> int:
    """Return the replicas that KEDA sets: 0 or 1 by itself, more by the autoscaler's formula."""
    spec = scaler["spec"]
    [trigger] = spec["triggers"]
    said = trigger["metadata"]
    value = float(connection.execute(text(said["query"])).scalar_one())
    if value <= float(said["activationTargetQueryValue"]):
        return int(spec["minReplicaCount"])
    needed = math.ceil(value / float(said["targetQueryValue"]))
    return int(min(max(needed, spec["minReplicaCount"], 1), spec["maxReplicaCount"]))


@contextmanager
def scaled(engine: Engine) -> Iterator[tuple[Connection, dict[str, Json]]]:
    """Yield an empty ledger, in a transaction that is rolled back, and the scalers."""
    objects = rendered(
        metrics=["hatexscore", "sor"],
        separate=True,
        keda={"enabled": True},
        replicas={"metrics": {"min": 0}, "models": {"min": 0}},
    )
    with engine.connect() as connection:
        connection.execute(text("DELETE FROM jobs"))
        connection.execute(text("DELETE FROM batches"))
        yield connection, of_kind(objects, "ScaledObject")
        connection.rollback()


@needs_helm
def test_a_batch_of_50_000_lines_reaches_the_maximum_and_only_where_it_is_work(
    engine: Engine,
) -> None:
    with scaled(engine) as (connection, scalers):
        assert {wanted(connection, one) for one in scalers.values()} == {0}
        connection.execute(text(BATCH), {"total": LINES})
        window = {"metric": "hatexscore", "batch": "batch_x", "count": 500}
        connection.execute(text(JOBS), window)  # the lines that the scheduler has queued so far
        counts = {name: wanted(connection, one) for name, one in scalers.items()}
        assert counts == {"worker-hatexscore": 8, "worker-models": 8, "worker-sor": 0}
        connection.execute(text("UPDATE batches SET completed = total - 501"))
        assert wanted(connection, scalers["worker-hatexscore"]) == 2


@needs_helm
def test_one_job_or_report_starts_a_worker_of_its_metric(engine: Engine) -> None:
    with scaled(engine) as (connection, scalers):
        for metric in ("sor", "sor-report"):
            connection.execute(text("DELETE FROM jobs"))
            connection.execute(text(JOBS), {"metric": metric, "batch": None, "count": 1})
            assert wanted(connection, scalers["worker-sor"]) == 1
            assert wanted(connection, scalers["worker-hatexscore"]) == 0


def test_the_gateway_exports_it_and_a_role_without_tables_may_ask(engine: Engine) -> None:
    role = f"scaler_{os.getpid()}"
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM jobs"))
        connection.execute(text(JOBS), {"metric": "sor-report", "batch": None, "count": 3})
        connection.execute(text(f"CREATE ROLE {role}"))
    try:
        assert b'touchstone_backlog{metric="sor"} 3.0' in render_metrics(engine)
        with engine.connect() as connection:
            connection.execute(text(f"SET ROLE {role}"))
            rows = connection.execute(text("SELECT * FROM touchstone_backlog()"))
            assert [tuple(row) for row in rows] == [("sor", 3)]
            with pytest.raises(Exception, match="permission denied"):
                connection.execute(text("SELECT * FROM jobs"))
    finally:
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM jobs"))
            connection.execute(text(f"DROP ROLE {role}"))
