"""The queue's door to HLV."""

from services.hlv.contract import METRIC
from services.hlv.score import score
from shared.worker import door

task = door(METRIC, score)
