"""The queue's doors to CoT2EL."""

from services.cot2el.batch_report import batch_report
from services.cot2el.contract import BATCH_REPORT, METRIC
from services.cot2el.score import score
from shared.worker import door, door_for_reports

task = door(METRIC, score)
report_task = door_for_reports(BATCH_REPORT, METRIC, batch_report)
