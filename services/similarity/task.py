"""The queue's doors: jobs of clients, and calls of the metrics' workers."""

from services.similarity.contract import ROOM
from services.similarity.score import score
from shared.remote.answering import answers_calls
from shared.worker import door

task = door(ROOM, score)
calls = answers_calls("similarity")
