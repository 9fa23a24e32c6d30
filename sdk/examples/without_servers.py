"""Scores an explanation without a service: the metrics run in this process."""

from touchstone_client import Local

ts = Local()
request = {"text": "We lost again.", "explanation": "A complaint. The text is not hateful."}
print(ts.hatexscore(request, decision="non-hateful"))
