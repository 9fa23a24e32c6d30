"""The model card of `embedded-hate`, rendered from the measured numbers."""

from __future__ import annotations

from pydantic import Field

from services.inference.embedded.card import framed, share_table, with_interval
from services.inference.embedded.evaluation import Metrics, Quality, Share
from shared.catalogue import EmbeddedNote
from shared.contracts import Message

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

| on texts never trained on | HateXplain | HateCheck |
|---|---|---|
| rows (hateful) | {posts.rows} ({posts.hateful}) | {cases.rows} ({cases.hateful}) |
| accuracy (95 % interval) | {posts_accuracy} | {cases_accuracy} |
| always the more frequent label | {posts.majority_accuracy:.3f} | {cases.majority_accuracy:.3f} |
| macro-F1 | {posts.macro_f1:.3f} | {cases.macro_f1:.3f} |
| calibration error before the temperature | {posts.calibration_error_before:.3f} | {cases.calibration_error_before:.3f} |
| calibration error | {posts.calibration_error:.3f} | {cases.calibration_error:.3f} |
| Brier score | {posts.brier:.3f} | {cases.brier:.3f} |

Calibration error: expected calibration error of the predicted label, 15 bins of equal width over
[0, 1] (Guo et al., 2017). The temperature was fitted on HateXplain posts, so it holds for posts;
HateCheck's short template sentences are another distribution. Measured on the shipped bfloat16
weights.

Called hateful, by HateXplain's label (held-back posts):

| label | share | 95 % interval | posts |
|---|---|---|---|
{called_hateful}

Wrongly called hateful, by the group that a non-hateful HateCheck case names (held-back families):

| group | false-positive rate | 95 % interval | cases |
|---|---|---|---|
{false_positives}

Answered rightly, by what a HateCheck case tests (`_h`: hateful, `_nh`: not; held-back families):

| functionality | accuracy | 95 % interval | cases |
|---|---|---|---|
{functionalities}

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
    called_hateful: dict[str, Share] = Field(description="by HateXplain's label")
    hatecheck: HateQuality
    false_positives: dict[str, Share] = Field(
        description="by protected group: non-hateful HateCheck cases that are called hateful"
    )
    functionalities: dict[str, Share] = Field(description="HateCheck cases answered rightly")
    rows: dict[str, int] = Field(description="examples in each part")


def render(note: EmbeddedNote, metrics: HateMetrics) -> str:
    """The card as Markdown."""
    hate = metrics.called_hateful["hatespeech"]
    body = BODY.format(
        rows=metrics.rows,
        posts_trained=metrics.rows["train_posts"],
        cases_trained=metrics.rows["train_cases"],
        posts=metrics.held_back,
        cases=metrics.hatecheck,
        posts_accuracy=with_interval(metrics.held_back.accuracy),
        cases_accuracy=with_interval(metrics.hatecheck.accuracy),
        called_hateful=share_table(metrics.called_hateful),
        false_positives=share_table(metrics.false_positives),
        functionalities=share_table(metrics.functionalities),
        missed=hate.of - hate.count,
        hate_posts=hate.of,
    )
    return framed("hate", "Is an English post hateful?", note, body)
