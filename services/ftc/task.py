"""The queue's doors to FTC."""

from services.ftc.batch_report import batch_report
from services.ftc.contract import BATCH_REPORT, METRIC
from services.ftc.score import score
from shared.worker import door, door_for_reports

task = door(METRIC, score)
report_task = door_for_reports(BATCH_REPORT, METRIC, batch_report)
