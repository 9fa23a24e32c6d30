"""The worker: it claims, renews, scores, finishes; a service only scores.

Read in this order: `tasks` (a service's Celery tasks), `job` (one job from its claim to its end),
`combined_calls` (several claims or ends in one statement), `batch_queues` (threads for
batches, shares of tenants), `process` (probes, loading of models),
`watchdog` (no job takes its process with it).
"""

from shared.worker.tasks import register, registered

__all__ = ["register", "registered"]
