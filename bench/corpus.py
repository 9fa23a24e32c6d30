"""300 explanations in the styles of real ones, for benchmarks of speed: `corpus.jsonl`.

A language model wrote all posts and explanations, in the roles of moderators and of models. No post
is real, and the language is mild. Every explanation is read by the trained reader, and every quote
occurs in its post, so that the judge reads it with and without the quote.

- Languages of the posts: 210 English, 15 each of German, Spanish, French, Italian, Portuguese and
  Chinese, of which 30 are explained in English.
- Decisions: 165 hateful, 135 not hateful.
- Posts: 8 to 53 words, median 26. Explanations: 22 to 1,099 characters, median 778.
- Styles: 195 of models (median 822 characters, 3 quotes), 75 of moderators (221 characters, 1
  quote), 30 short ones (63 characters, no quote).
"""

from __future__ import annotations

import json
from itertools import cycle, islice
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).with_name("corpus.jsonl")

Json = dict[str, Any]


def bodies(number: int) -> list[Json]:
    """Return `count` requests with different texts, so that no cached row answers another
    request."""
    rows = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
    return [
        {
            "text": row["text"] if place < len(rows) else f"{place} {row['text']}",
            "explanation": row["explanation"],
            "decision": row["decision"],
            "seed": place,
        }
        for place, row in enumerate(islice(cycle(rows), number))
    ]
