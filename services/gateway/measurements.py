"""What Prometheus is told: this process's counters, and the ledger's open jobs."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from sqlalchemy import Engine

from shared.errors import Unavailable
from shared.ledger import jobs
from shared.ledger.engine import transaction


def measurements(engine: Engine) -> bytes:
    """In Prometheus's text format. Blocks."""
    registry = CollectorRegistry()
    gauge = Gauge(
        "touchstone_jobs_open", "Jobs not yet final", ["metric", "status"], registry=registry
    )
    try:
        with transaction(engine) as connection:
            counts = jobs.open_counts(connection)
    except Unavailable:  # the process's own counters are still worth a scrape
        counts = {}
    for (metric, status), count in counts.items():
        gauge.labels(metric, status).set(count)
    return generate_latest() + generate_latest(registry)
