"""`embedded-sentiment`: is a sentence of a product review positive or negative?

Source: Sentiment Labelled Sentences, the Amazon part (Kotzias et al., KDD 2015).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from shared.models.catalogue.checkpoint import EmbeddedMetadata
from training.calibration import part_calibration
from training.card import format_body, framed, share_table
from training.examples import Ask, Split, TrainingExample, json_lines, normalize_text, one_hot
from training.training import (
    HitShare,
    LabelMetrics,
    TrainingConfig,
    TrainingTask,
    by_label,
    hit_rates,
    to_predictions,
)

LABELS = ("negative", "positive")
FILES = ("uci_sentiment_amazon.jsonl",)
RECIPE = TrainingConfig(epochs=6)
NEGATION = re.compile(r"\b(not?|never|nothing|none|without|cannot|\w+n't)\b", re.IGNORECASE)

BODY = """\
## Intended use

A second classifier to explain, with words that carry the answer: for trying Touchstone's metrics,
and for tests on real weights, without a download. Name a large model in `models.toml` where the
answer matters.

## Data

| | licence | trained | calibrated | held back |
|---|---|---|---|---|
| Sentiment Labelled Sentences, Amazon part (Kotzias et al., KDD 2015), {all_rows:,} sentences | CC BY 4.0 | {rows[train]:,} | {rows[calibration]:,} | {rows[held_back]:,} |

The UCI page of the data set states the licence. The copy that was read
(RushikeshVaidya1905/Sentiment-Analysis) states none, so it could not be verified there. No data
ships with the adapter.

The held-back sentences are 20 % of each label, chosen by the SHA-256 of the sentence's letters and
digits in lower case, so that a sentence and its respelling stay together; 15 % of the others
calibrate the temperature and chose the recipe.

{recipe}

## Quality

{quality}

Accuracy for sentences with and without a negation (not, never, -n't, ...):

| | accuracy | 95 % interval | rows |
|---|---|---|---|
{negation}

## Limits

- The held-back sentences are few: read the intervals. So are the calibrating ones, and with them
  the temperature is uncertain.
- English only; sentences on phones, headsets and their like that were chosen to be clearly positive
  or clearly negative. There is no neutral label: a neutral sentence gets one of the two.
- Irony, comparisons between products, and mixed sentences are not covered.
- The other parts of the data set (films, restaurants) were neither trained on nor measured.
"""  # noqa: E501 - a table row is one line


class SentimentMetrics(LabelMetrics):
    negation: dict[str, HitShare] = Field(
        description="answered rightly, by negation in the sentence"
    )


def read(paths: Iterable[Path]) -> list[TrainingExample]:
    return [
        TrainingExample(
            id=row["id"],
            text=row["text"],
            label=LABELS.index(row["label"]),
            target=one_hot(LABELS.index(row["label"]), len(LABELS)),
            source="uci",
            original_label=row["label"],
            family=normalize_text(row["text"]),
        )
        for path in paths
        for row in json_lines(path, {"id", "text", "label"}, "labelled sentences")
    ]


def evaluate(ask: Ask, parts: Split, temperature: float) -> SentimentMetrics:
    sentences = parts.held_back
    logits = ask(sentences)
    partial = part_calibration(ask, sentences, LABELS, temperature)
    common = by_label(logits, parts, LABELS, temperature, partial)
    found = to_predictions(logits, sentences)
    negation = hit_rates(
        ["with" if NEGATION.search(one.text) else "without" for one in sentences],
        found.right,
        found.keys,
    )
    return SentimentMetrics(**dict(common), negation=negation)


def render(note: EmbeddedMetadata, metrics: SentimentMetrics) -> str:
    body = format_body(BODY, metrics, RECIPE, negation=share_table(metrics.negation))
    question = "Is a sentence of an English product review positive or negative?"
    return framed("sentiment", question, note, body)


SENTIMENT = TrainingTask(
    name="sentiment",
    labels=LABELS,
    files=FILES,
    read=read,
    evaluate=evaluate,
    card=render,
    measured=SentimentMetrics,
    recipe=RECIPE,
)
