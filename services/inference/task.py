"""The queue's doors: jobs of clients, and calls of the metrics' workers."""

from services.inference.contract import ROOM
from services.inference.score import score
from shared.remote.answering import answers_calls
from shared.worker import door

task = door(ROOM, score)
calls = answers_calls("inference")
