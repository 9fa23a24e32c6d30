"""Defines the training of `embedded-nli`, which predicts if a premise entails a hypothesis,
contradicts it, or neither.

Source: the development part of e-SNLI (Camburu et al., NeurIPS 2018), with sentences of SNLI
(Bowman et al., EMNLP 2015). SNLI repeats each premise, so all rows of a premise are held back
together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from shared.models.catalogue.checkpoint import EmbeddedMetadata
from training.calibration import part_calibration
from training.card import format_body, framed, with_interval
from training.examples import Ask, Split, TrainingExample, json_lines, normalize_text, one_hot
from training.training import (
    HitShare,
    LabelMetrics,
    TrainingConfig,
    TrainingTask,
    by_label,
    hit_share,
    to_predictions,
)

LABELS = ("entailment", "neutral", "contradiction")
FILES = ("esnli_train.jsonl", "esnli.jsonl")
RECIPE = TrainingConfig(epochs=5, learning_rate=6e-4)

BODY = """\
## Intended use

Tells Touchstone's metrics whether one sentence follows from another,
without a download. Give the premise as the first sequence and the hypothesis as the second. Name a
large model in `models.toml` where the answer matters.

## Data

| | licence | trained | calibrated | held back |
|---|---|---|---|---|
| e-SNLI (Camburu et al., NeurIPS 2018), {all_rows:,} pairs of its development part | MIT-style, Copyright 2019 Oana-Maria Camburu | {rows[train]:,} | {rows[calibration]:,} | {rows[held_back]:,} |

The sentences are those of SNLI (Bowman et al., EMNLP 2015; The Stanford Natural Language Inference
Corpus), CC BY-SA 4.0, whose premises are captions of Flickr30k (Young et al., 2014). The pairs come
from the repositories OanaMariaCamburu/e-SNLI and peterbhase/LAS-NL-Explanations (MIT). Labels and
sentences were used; the explanations were not. No data ships with the adapter.

The held-back pairs belong to 20 % of the premises, chosen by the SHA-256 of the premise's
letters and digits in lower case. Pairs of 15 % of the other premises calibrate the temperature and
chose the recipe. No premise is in two parts.

{recipe}

## Quality

{quality}

With the premise left blank, the same weights answer {premise_blank} rightly: what lies above that
comes from reading the premise.

## Limits

- English only; short descriptions of photographs. Other premises (news, law, science, long texts)
  are another distribution, and the temperature was not fitted on them.
- SNLI's hypotheses give their label away in part: a classifier that sees the hypothesis alone
  reaches 67 % (Gururangan et al., NAACL 2018). An accuracy here is no proof of inference.
- SNLI takes the two sentences to describe one scene, so that a different actor or action counts as
  a contradiction.
- The premises of one photograph (up to five captions) may be in two parts: the data does not name
  the photograph.
- Numbers, negation and who does what to whom are read weakly by a model of this size.
"""  # noqa: E501 - a table row is one line


class NliMetrics(LabelMetrics):
    premise_blank: HitShare = Field(description="answered rightly from the hypothesis alone")


def read(paths: Iterable[Path]) -> list[TrainingExample]:
    return [
        TrainingExample(
            id=f"{path.stem}/{row['id']}",  # some ids stand in both files, for other pairs
            text=row["premise"],
            text_pair=row["hypothesis"],
            label=LABELS.index(row["label"]),
            target=one_hot(LABELS.index(row["label"]), len(LABELS)),
            source="esnli",
            family=normalize_text(row["premise"]),
        )
        for path in paths
        for row in json_lines(path, {"id", "premise", "hypothesis", "label"}, "e-SNLI")
    ]


def evaluate(ask: Ask, parts: Split, temperature: float) -> NliMetrics:
    pairs = parts.held_back
    partial = part_calibration(ask, pairs, LABELS, temperature)
    common = by_label(ask(pairs), parts, LABELS, temperature, partial)
    blank = to_predictions(ask([replace(pair, text="") for pair in pairs]), pairs)
    return NliMetrics(**dict(common), premise_blank=hit_share(blank.right, blank.keys))


def render(note: EmbeddedMetadata, metrics: NliMetrics) -> str:
    blank = with_interval(metrics.premise_blank)
    body = format_body(BODY, metrics, RECIPE, premise_blank=blank)
    question = "Does an English premise entail a hypothesis, contradict it, or neither?"
    return framed("nli", question, note, body)


NLI = TrainingTask(
    name="nli",
    labels=LABELS,
    files=FILES,
    read=read,
    evaluate=evaluate,
    card=render,
    measured=NliMetrics,
    recipe=RECIPE,
)
