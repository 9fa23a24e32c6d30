"""Score every line of a file, print the scores, and print the report on the whole batch."""

from touchstone_client import Touchstone

ts = Touchstone()
batch = ts.batches.create("posts.jsonl", "hatexscore", metadata={"model": "v7"})
for line in batch.wait().results():
    print(line.custom_id, line.result.score)
print(batch.report())
