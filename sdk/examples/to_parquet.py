"""Scores a file of posts, and saves the scores as a Parquet table."""

import pandas as pd

from touchstone_client import Touchstone

frame = pd.read_json("posts.jsonl", lines=True)[["text", "explanation"]]
Touchstone().score_many(frame, "hatexscore").to_parquet("scores.parquet")
print(pd.read_parquet("scores.parquet").describe())
