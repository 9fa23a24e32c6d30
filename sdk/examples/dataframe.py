"""Score a column of explanations, and see the worst first."""

import pandas as pd

from touchstone_client import Touchstone

frame = pd.read_json("posts.jsonl", lines=True).rename(columns={"text": "post"})
scores = Touchstone().score_many(
    frame, "hatexscore", columns={"text": "post", "explanation": "explanation"}
)
print(scores.sort_values("score")[["post", "score", "verdict", "error"]].head())
