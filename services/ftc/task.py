"""The queue's door to FTC."""

from services.ftc.contract import METRIC
from services.ftc.score import score
from shared.worker import door

task = door(METRIC, score)
