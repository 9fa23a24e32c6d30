"""Compares the explanations of model v8 with those of v7, text by text, with an interval."""

from touchstone_client import Touchstone

ts = Touchstone()
a, b = (
    ts.batches.create("posts.jsonl", "hatexscore", metadata={"model": model}).wait()
    for model in ("v8", "v7")
)
(score, *_) = ts.compare(a, b).differences
print(score.difference.value, score.difference.low, score.difference.high, score.p_value)
