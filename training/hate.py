"""`embedded-hate`: the posts that it learns from, and what "hateful" means in them.

Sources: HateXplain (Mathew et al., AAAI 2021) and HateCheck (Röttger et al., ACL 2021).
A post is hateful if most of its three annotators called it hate speech: "offensive" is not hateful.
That is HateCheck's line too (abuse of no protected group is not hateful) and HateXScore's, which
asks for the protected group. The training target is the share of annotators who said hate speech.
HateCheck is held back by whole template families, so that no respelling or negation of a held-back
case was trained on.

The model card of `embedded-hate`, rendered from the measured numbers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from services.inference.embedded import adapter
from services.inference.embedded.adapter import (
    HELD_BACK_SHARE,
    Ask,
    Split,
    TrainingExample,
    one_hot,
    split_by_group,
)
from shared.contracts.messages import Message
from shared.models.catalogue.checkpoint import EmbeddedMetadata
from training.calibration import LabelPredictions, part_calibration
from training.card import framed, parts_table, quality_table, share_table
from training.training import (
    HitShare,
    Metrics,
    Quality,
    TrainingTask,
    evaluate_part,
    hit_rates,
    to_predictions,
)

BODY = """\
## Intended use

The default classifier of Touchstone's HateXScore: a probability of "hateful" before and after
words are masked. It lets the service answer in a minute without a download, and lets tests run on
real weights. It is not made to moderate people's posts: name a large model in `models.toml`.

## What "hateful" means

A HateXplain post is hateful if the majority of its three annotators called it hate speech. **A post
that most called "offensive" counts as non-hateful**, as in HateCheck, where abuse that is not aimed
at a protected group is non-hateful, and as in HateXScore, which asks for the protected group. A
moderation platform whose rules also forbid offensive posts must not read a low probability as
"allowed".

The other two readings were tried with nearly the same recipe, one run each, accuracy on the
held-back posts: hate speech against normal, offensive posts left out: 0.80 (of 287 posts);
hate speech or offensive against normal: 0.70 (of 400). The reading above: 0.83 (of 400).

## Data

| | licence | trained | calibrated | held back |
|---|---|---|---|---|
| HateXplain (Mathew et al., AAAI 2021), 2,000 posts | MIT, Copyright (c) 2020 Punyajoy Saha | {posts_trained:,} | {rows[calibration]:,} | {rows[held_back]:,} |
| HateCheck (Röttger et al., ACL 2021), 3,728 cases | CC BY 4.0 | {cases_trained:,} | – | {rows[held_back_cases]:,} |

The held-back posts are 20 % of each HateXplain label, chosen by the SHA-256 of the post's id; 15 %
of the other posts calibrate the temperature and chose the recipe. HateCheck is held back by whole
template families (a template with its respellings, rephrasings and negations): 20 %, by hash.
Targets are soft: the share of annotators who said hate speech. No data ships with the adapter.

## Quality

{posts.hateful} of the {posts.rows} posts and {cases.hateful} of the {cases.rows} cases are hateful.

{quality}

The temperature was fitted on HateXplain posts, so it holds for posts; HateCheck's short template
sentences are another distribution.

{parts}

Called hateful, by HateXplain's label (held-back posts):

| label | share | 95 % interval | posts | clusters |
|---|---|---|---|---|
{called_hateful}

Wrongly called hateful, by the group that a non-hateful HateCheck case names (held-back families):

| group | false-positive rate | 95 % interval | cases | clusters |
|---|---|---|---|---|
{false_positives}

Answered rightly, by what a HateCheck case tests (`_h`: hateful, `_nh`: not; held-back families):

| functionality | accuracy | 95 % interval | cases | clusters |
|---|---|---|---|---|
{functionalities}

Clusters are families of templates: cases of one family are no independent evidence. Intervals over
fewer than 30 clusters are approximate; over one there is none.

## Limits

- It misses more than it cries wolf: of the held-back posts that annotators called hate speech,
  {missed} of {hate_posts} are called non-hateful at the threshold of one half.
- English only; trained on Twitter and Gab posts of 2019–2020 and on template sentences.
- HateXplain's annotators often disagree (all three agree on about half of the posts): an accuracy
  of 1 is out of reach.
- HateXplain's posts were gathered with lexicons, so slurs correlate with its labels: look at the
  rows on slurs, counter speech and identity terms above before trusting it near those.
- It hardly reads negation, nor what a second sentence says about the first: rows `negate_*` and
  `ref_subs_sent_h`.
- Cases per group are few: read the intervals, not the ranks. A rate on templates is not a rate on
  people's posts.
- Implicit hate, irony, and hate that needs context or an image are not covered."""  # noqa: E501 - a table row is one line


class _Rows(Message):
    rows: int
    hateful: int


class HateQuality(Quality, _Rows):
    """How good the probabilities are on one part, after how many rows it has."""


class HateMetrics(Metrics):
    """Everything measured on the held-back parts."""

    held_back: HateQuality
    called_hateful: dict[str, HitShare] = Field(description="by HateXplain's label")
    hatecheck: HateQuality
    false_positives: dict[str, HitShare] = Field(
        description="by protected group: non-hateful HateCheck cases that are called hateful"
    )
    functionalities: dict[str, HitShare] = Field(description="HateCheck cases answered rightly")
    rows: dict[str, int] = Field(description="examples in each part")


def render(note: EmbeddedMetadata, metrics: HateMetrics) -> str:
    hate = metrics.called_hateful["hatespeech"]
    body = BODY.format(
        rows=metrics.rows,
        posts_trained=metrics.rows["train_posts"],
        cases_trained=metrics.rows["train_cases"],
        posts=metrics.held_back,
        cases=metrics.hatecheck,
        quality=quality_table({"HateXplain": metrics.held_back, "HateCheck": metrics.hatecheck}),
        parts=parts_table(metrics.parts),
        called_hateful=share_table(metrics.called_hateful),
        false_positives=share_table(metrics.false_positives),
        functionalities=share_table(metrics.functionalities),
        missed=hate.of - hate.count,
        hate_posts=hate.of,
    )
    return framed("hate", "Is an English post hateful?", note, body)


NON_HATEFUL, HATEFUL = LABELS = ("non-hateful", "hateful")
FILES = ("hatexplain.jsonl", "hatecheck.jsonl")
NO_GROUP = "no group"


def read(paths: Iterable[Path]) -> list[TrainingExample]:
    """The examples of these JSONL files, told apart by their columns."""
    examples: list[TrainingExample] = []
    for path in paths:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if rows and "annotator_labels" in rows[0]:
            for row in rows:
                votes = row["annotator_labels"]
                hateful = votes.count("hatespeech") / len(votes)
                examples.append(
                    TrainingExample(
                        id=row["id"],
                        text=row["text"],
                        source="hatexplain",
                        label=int(row["label"] == "hatespeech"),
                        target=(1 - hateful, hateful),
                        original_label=row["label"],
                    )
                )
        elif rows and "functionality" in rows[0]:
            examples += _cases(rows)
        else:
            raise ValueError(f"{path}: neither HateXplain nor HateCheck by its columns")
    return examples


def _cases(rows: list[dict[str, Any]]) -> list[TrainingExample]:
    by_number = {row["id"].rpartition("-")[2]: row for row in rows}

    def family(row: dict[str, Any]) -> str:
        while row["ref_case_id"]:
            row = by_number[row["ref_case_id"]]
        return str(row["templ_id"])

    return [
        TrainingExample(
            id=row["id"],
            text=row["text"],
            source="hatecheck",
            label=LABELS.index(row["label"]),
            target=one_hot(LABELS.index(row["label"]), len(LABELS)),
            original_label=row["label"],
            family=family(row),
            group=row["target_group"],
            functionality=row["functionality"],
        )
        for row in rows
    ]


def split(examples: Sequence[TrainingExample]) -> Split:
    """Part the posts in three, and hold back a share of HateCheck's families."""
    posts = adapter.split([example for example in examples if example.source == "hatexplain"])
    held_back, trained = split_by_group(
        (example for example in examples if example.source == "hatecheck"),
        HELD_BACK_SHARE,
    )
    return replace(posts, train=posts.train + trained, held_back_cases=held_back)


def evaluate(ask: Ask, parts: Split, temperature: float) -> HateMetrics:
    """Measure the held-back posts and the held-back HateCheck families."""
    posts, cases = parts.held_back, parts.held_back_cases
    of_posts, of_cases = to_predictions(ask(posts), posts), to_predictions(ask(cases), cases)
    called = of_cases.logits.argmax(axis=1).astype(np.float64)
    trained = Counter(example.source for example in parts.train)
    harmless = np.flatnonzero(of_cases.labels == 0).tolist()
    return HateMetrics(
        held_back=_quality(of_posts, temperature),
        parts=part_calibration(ask, posts, LABELS, temperature),
        called_hateful=hit_rates(
            [post.original_label for post in posts],
            of_posts.logits.argmax(axis=1).astype(np.float64),
            of_posts.keys,
        ),
        hatecheck=_quality(of_cases, temperature),
        false_positives=hit_rates(
            [cases[number].group or NO_GROUP for number in harmless],
            called[harmless],
            [of_cases.keys[number] for number in harmless],
        ),
        functionalities=hit_rates(
            [str(case.functionality) for case in cases], of_cases.right, of_cases.keys
        ),
        rows={
            "train_posts": trained["hatexplain"],
            "train_cases": len(parts.train) - trained["hatexplain"],
            "calibration": len(parts.calibration),
            "held_back": len(parts.held_back),
            "held_back_cases": len(parts.held_back_cases),
        },
    )


def _quality(found: LabelPredictions, temperature: float) -> HateQuality:
    hateful = int(found.labels.sum())
    return HateQuality(
        rows=len(found.labels), hateful=hateful, **dict(evaluate_part(found, temperature))
    )


HATE = TrainingTask(
    name="hate",
    labels=LABELS,
    files=FILES,
    read=read,
    evaluate=evaluate,
    card=render,
    measured=HateMetrics,
    split=split,
)
