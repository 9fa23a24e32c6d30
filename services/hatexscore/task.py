"""The queue's door to HateXScore."""

from services.hatexscore.contract import METRIC
from services.hatexscore.score import score
from shared.worker import door

task = door(METRIC, score)
