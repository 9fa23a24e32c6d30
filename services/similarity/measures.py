"""What Prometheus may know of similarities. One count a distinct text or pair of a call."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

from shared.telemetry import SECONDS

CACHE_HITS = Counter(
    "touchstone_similarity_cache_hits_total", "Texts or pairs answered from memory", ["kind"]
)
CACHE_MISSES = Counter(
    "touchstone_similarity_cache_misses_total", "Texts or pairs that a model computed", ["kind"]
)
BATCH_INPUTS = Histogram(
    "touchstone_similarity_batch_inputs",
    "Texts or pairs of the calls that shared a batch",
    ["model"],
    buckets=[4**power for power in range(8)],
)
RUN_SECONDS = Histogram(
    "touchstone_similarity_seconds", "Of a batch", ["model"], buckets=(0.001, *SECONDS)
)
