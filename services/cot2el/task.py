"""The queue's door to CoT2EL."""

from services.cot2el.contract import METRIC
from services.cot2el.score import score
from shared.worker import door

task = door(METRIC, score)
