"""The worker's shell: it claims, renews, scores, finishes; a room only scores.

Read in this order: `door` (a room's Celery task), `shell` (the way of one job), `endings` (which
exception means which end), `heartbeat` (leases kept alive while threads compute), `reports` (jobs
over many results).
"""

from shared.worker.door import door, doors
from shared.worker.reports import door_for_reports, ensure_report_doors

__all__ = ["door", "door_for_reports", "doors", "ensure_report_doors"]
