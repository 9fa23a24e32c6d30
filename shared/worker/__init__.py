"""The worker claims, renews and finishes jobs; a service only computes scores.

Read in this order: `tasks` (a service's Celery tasks), `job` (one job from claim to end),
`combined_calls` (several claims or ends in one statement), `batch_queues` (threads for batches,
shares of tenants), `process` (probes, loading of models), `watchdog` (stops jobs that run too
long).
"""

from shared.worker.tasks import register, registered

__all__ = ["register", "registered"]
