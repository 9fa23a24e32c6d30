"""The queue's door to ICE."""

from services.ice.contract import METRIC
from services.ice.score import score
from shared.worker import door

task = door(METRIC, score)
