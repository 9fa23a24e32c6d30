"""The queue's doors to HAF."""

from services.haf.batch_report import batch_report
from services.haf.contract import BATCH_REPORT, METRIC
from services.haf.score import score
from shared.worker import door, door_for_reports

task = door(METRIC, score)
report_task = door_for_reports(BATCH_REPORT, METRIC, batch_report)
