"""The worker: it claims, renews, scores, finishes; a service only scores.

Read in this order: `tasks` (a service's Celery tasks), `shell` (the way of one job), `endings`
(which exception means which end), `heartbeat` (leases kept alive while threads compute).
"""

from shared.worker.tasks import register, registered

__all__ = ["register", "registered"]
