"""Score the explanation of one post."""

from touchstone_client import Touchstone

ts = Touchstone()
result = ts.hatexscore(
    text="Honestly, those immigrants are ruining our lovely old town.",
    explanation='It says "those immigrants are ruining our lovely old town". Hateful.',
    decision="hateful",
)
print(result.verdict, result.score, result.reason, result.components.qf)
