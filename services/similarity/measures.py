"""What Prometheus may know of similarities. One count a distinct text or pair of a call."""

from __future__ import annotations

from prometheus_client import Counter

CACHE_HITS = Counter(
    "touchstone_similarity_cache_hits_total", "Texts or pairs answered from memory", ["kind"]
)
CACHE_MISSES = Counter(
    "touchstone_similarity_cache_misses_total", "Texts or pairs that a model computed", ["kind"]
)
