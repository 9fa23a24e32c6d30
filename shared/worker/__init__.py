"""The worker's shell: it claims, renews, scores, finishes; a room only scores.

Read in this order: `door` (a room's Celery task), `shell` (the way of one job), `endings` (which
exception means which end), `heartbeat` (leases kept alive while threads compute).
"""

from shared.worker.door import door, doors

__all__ = ["door", "doors"]
