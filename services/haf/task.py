"""The queue's door to HAF."""

from services.haf.contract import METRIC
from services.haf.score import score
from shared.worker import door

task = door(METRIC, score)
