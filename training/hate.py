"""The training posts of the model `embedded-hate`, and their definition of "hateful".

Sources: HateXplain (Mathew et al., AAAI 2021), HateCheck (Röttger et al., ACL 2021), Multilingual
HateCheck (Röttger et al., WOAH 2022) and BEEP! (Moon et al., SocialNLP 2020). A post is hateful if
most of its annotators called it hate speech: "offensive" is not hateful. HateCheck uses the same
definition (abuse of no protected group is not hateful). So does HateXScore, which asks for the
protected group. The training target is the share of annotators who said hate speech. HateCheck is
held back by whole template families, together with their translations. The model was therefore
trained on no respelling, negation or translation of a held-back case.

The model is also trained on parts of posts, with the label of the whole post. HateXScore and ICE
send parts, and a model that never saw parts is overconfident on them.

This module also renders the model card of `embedded-hate` from the measured numbers."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from pydantic import Field

from shared.contracts.messages import Message
from shared.models.catalogue.checkpoint import EmbeddedMetadata
from shared.models.label_readout import softmax
from shared.statistics.agreement import roc_auc
from training import measures
from training.calibration import (
    CELLS,
    E5_MASK,
    LabelPredictions,
    Operator,
    part_calibration,
    perturb_example,
)
from training.card import framed, parts_table, quality_table, share_table, with_interval
from training.examples import (
    CALIBRATION_SHARE,
    HELD_BACK_SHARE,
    Ask,
    Split,
    TrainingExample,
    one_hot,
    split_by_group,
)
from training.examples import split as split_by_label
from training.families import FAMILIES
from training.training import (
    HitShare,
    Metrics,
    Quality,
    TrainingConfig,
    TrainingTask,
    evaluate_part,
    hit_rates,
    hit_share,
    to_predictions,
)

BODY = """\
## Intended use

The default classifier of HateXScore and ICE: a probability of "hateful", of a post and of its
parts. It needs no download and runs on a processor. It is not made to moderate people's posts,
alone or as a first filter, nor to rank or score people. Name a large model in `models.toml` for
results that you publish.

## Languages

{languages}

- **English** was checked on posts of people.
- **Dutch, French, German, Italian, Mandarin, Polish, Portuguese and Spanish** were only checked
  on templates: short made-up sentences such as "I hate [group]", translated by native
  speakers. Nobody knows how well the model reads real posts in these languages. A template is
  easier than a post.
- **Arabic, Hindi and Korean** are not among its languages: it is hardly better there than always
  giving the more frequent label, or worse. No Hindi text was trained on, since the base rarely
  finds which English case one of them translates. They are written in Latin letters.

HateXScore does not ask it about other languages unless the request accepts them.

The ECE is that of P(hateful); the floor is the mean ECE of a calibrated model with these
probabilities. "Parts" are the same texts with words deleted or masked (20, 50 and 80 % kept). Parts
of templates are far off, because most of these cases are hateful and a part rarely shows it.
Chinese has no spaces, so its texts were not cut.

## What "hateful" means

A HateXplain post is hateful if the majority of its three annotators called it hate speech. **A post
that most called "offensive" counts as non-hateful**, as in HateCheck, where abuse that is not aimed
at a protected group is non-hateful, and as in HateXScore, which asks for the protected group. A
moderation platform whose rules also forbid offensive posts must not read a low probability as
"allowed".

## Data

| | licence | trained | calibrated or chose the epoch | held back |
|---|---|---|---|---|
{data}

- Posts and comments are held back by the SHA-256 of their id, 20 % of each label. 15 % of the others
  calibrate the temperature.
- HateCheck is held back by template families: a template with its respellings, rephrasings,
  negations **and translations**. Multilingual HateCheck does not name the original of a case, so each
  case joins the family of the nearest English case with the same functionality (`families.json`), by
  vectors of the base. A case that may belong to a held-back family as well was not trained on.
- Every second post that is trained on or calibrates comes with one part of it, which has the label of
  the whole post. So probabilities of parts can be calibrated.
- Every second English case of the families that are not held back was trained on.
- Targets are soft where there are several annotators: the share who said hate speech.
- The epoch with the least loss on the middle column's texts was kept. Held-back texts chose nothing.
- No data ships with the adapter. BEEP! is under CC BY-SA 4.0: if you hold an adapter to be a
  derivative of its training data, share this one under the same licence, with credit to its authors.

## Quality on English

{posts.hateful} of the {posts.rows} HateXplain posts and {cases.hateful} of the {cases.rows} HateCheck
cases are hateful.

{quality}

The temperature was fitted on posts and their parts. HateCheck's short template sentences are another
distribution.

{parts}

Called hateful, by HateXplain's label (held-back posts):

| label | share | 95 % interval | posts | clusters |
|---|---|---|---|---|
{called_hateful}

Wrongly called hateful, by the group that a non-hateful HateCheck case names (held-back families):

| group | false-positive rate | 95 % interval | cases | clusters |
|---|---|---|---|---|
{false_positives}

Accuracy by functionality of HateCheck (`_h`: hateful, `_nh`: not; held-back families):

| functionality | accuracy | 95 % interval | cases | clusters |
|---|---|---|---|---|
{functionalities}

Clusters are families of templates: cases of one family are no independent evidence. Intervals over
fewer than 30 clusters are approximate; over one there is none.

## Limits

- It misses more than it cries wolf: of the held-back posts that annotators called hate speech,
  {missed} of {hate_posts} are called non-hateful at the threshold of one half.
- English posts are from Twitter and Gab, 2019 and 2020; all other languages are template sentences,
  but for {korean} Korean comments on news about celebrities.
- HateXplain's annotators often disagree (all three agree on about half of the posts): an accuracy
  of 1 is out of reach.
- HateXplain's posts were gathered with lexicons, so slurs correlate with its labels: look at the
  rows on slurs, counter speech and identity terms above before trusting it near those.
- Cases per group and language are few: read the intervals, not the ranks.
- Implicit hate, irony, and hate that needs context or an image are not covered."""  # noqa: E501 - a table row is one line

LANGUAGE_TABLE = """\
| language, texts | rows (hateful) | accuracy | most frequent label | balanced accuracy | AUROC | ECE (floor) | on parts |
|---|---|---|---|---|---|---|---|
{rows}"""  # noqa: E501 - a table row is one line
SOURCES = {  # name and licence
    "hatexplain": (
        "HateXplain (Mathew et al., AAAI 2021), English posts",
        "MIT, Copyright (c) 2020 Punyajoy Saha",
    ),
    "beep": ("BEEP! (Moon et al., SocialNLP 2020), Korean comments", "CC BY-SA 4.0"),
    "hatecheck": ("HateCheck (Röttger et al., ACL 2021), English cases", "CC BY 4.0"),
    "multilingual hatecheck": (
        "Multilingual HateCheck (Röttger et al., WOAH 2022), ten languages",
        "CC BY 4.0",
    ),
}


class _Rows(Message):
    rows: int
    hateful: int


class HateQuality(Quality, _Rows):
    """The quality of the probabilities on one part of the data, and its row counts."""


class LanguageQuality(_Rows):
    """The quality of the predicted probabilities on the held-back rows of one language and kind of
    text."""

    accuracy: HitShare
    majority_accuracy: float = Field(description="of always answering the more frequent label")
    balanced_accuracy: float = Field(description="mean recall of the two labels, [0, 1]")
    auroc: float
    ece: float = Field(description="of P(hateful), 15 bins of equal width")
    floor: float = Field(description="mean ECE of a calibrated model with these probabilities")
    parts_ece: float | None = Field(
        description="the same on parts of the texts; null for text without spaces"
    )
    parts_floor: float | None


class HateMetrics(Metrics):
    """All measurements of the hate-speech adapter on data that was held back from training."""

    held_back: HateQuality
    called_hateful: dict[str, HitShare] = Field(description="by HateXplain's label")
    hatecheck: HateQuality
    languages: dict[str, LanguageQuality] = Field(
        description="by language and kind of text: posts of people, or templates"
    )
    false_positives: dict[str, HitShare] = Field(
        description="by protected group: non-hateful HateCheck cases that are called hateful"
    )
    functionalities: dict[str, HitShare] = Field(description="HateCheck cases answered rightly")
    sources: dict[str, dict[str, int]] = Field(
        description="texts of each source that were trained on, watched and held back"
    )


def render(note: EmbeddedMetadata, metrics: HateMetrics) -> str:
    """Return the text of the model card."""
    hate = metrics.called_hateful["hatespeech"]
    body = BODY.format(
        languages=LANGUAGE_TABLE.format(
            rows="\n".join(
                f"| {name} | {one.rows} ({one.hateful}) | {with_interval(one.accuracy)} | "
                f"{one.majority_accuracy:.3f} | {one.balanced_accuracy:.3f} | {one.auroc:.3f} | "
                f"{one.ece:.3f} ({one.floor:.3f}) | {_on_parts(one)} |"
                for name, one in metrics.languages.items()
            )
        ),
        data="\n".join(
            f"| {name} | {licence} | "
            + " | ".join(f"{metrics.sources[source][part]:,}" for part in SPLITS)
            + " |"
            for source, (name, licence) in SOURCES.items()
        ),
        korean=metrics.sources["beep"]["trained"],
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
    return framed("hate", "Is a post hateful? In nine languages.", note, body)


def _on_parts(one: LanguageQuality) -> str:
    return "–" if one.parts_ece is None else f"{one.parts_ece:.3f} ({one.parts_floor:.3f})"


NON_HATEFUL, HATEFUL = LABELS = ("non-hateful", "hateful")
FILES = (
    "hatexplain.jsonl",
    "hatecheck.jsonl",
    "multilingual_hatecheck.jsonl",
    "korean_beep.jsonl",
)
LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "pl", "pt", "zh")
CODES = {
    "arabic": "ar",
    "dutch": "nl",
    "french": "fr",
    "german": "de",
    "hindi": "hi",
    "italian": "it",
    "mandarin": "zh",
    "polish": "pl",
    "portuguese": "pt",
    "spanish": "es",
}
UNSPACED = ("zh",)
NEVER_TRAINED = ("hi",)  # the base rarely finds which English case one of them translates
PART = ", part"  # behind the id of a text
SPLITS = ("trained", "watched", "held back")
POSTS = ("hatexplain", "beep")  # written by people
PART_CELLS: tuple[tuple[Operator, float], ...] = (
    *CELLS,
    ("mask", 0.5),
    ("mask", 0.2),
)
NO_GROUP = "no group"


def read(paths: Iterable[Path]) -> list[TrainingExample]:
    """Read the training examples of these JSONL files. The columns of a file show its data set.
    Raises ValueError if they match none."""
    examples: list[TrainingExample] = []
    for path in paths:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        columns = rows[0].keys() if rows else set()
        if "annotator_labels" in columns:
            examples += map(_post, rows)
        elif "contain_gender_bias" in columns:
            examples += map(_comment, rows)
        elif "templ_id" in columns:
            examples += _cases(rows)
        elif {"functionality", "lang"} <= columns:
            examples += map(_translation, rows)
        else:
            raise ValueError(
                f"{path}: neither HateXplain, HateCheck, Multilingual HateCheck nor BEEP! by its "
                "columns"
            )
    return examples


def _post(row: dict[str, Any]) -> TrainingExample:
    votes = row["annotator_labels"]
    hateful = votes.count("hatespeech") / len(votes)
    return TrainingExample(
        id=row["id"],
        text=row["text"],
        source="hatexplain",
        label=int(row["label"] == "hatespeech"),
        target=(1 - hateful, hateful),
        original_label=row["label"],
    )


def _comment(row: dict[str, Any]) -> TrainingExample:
    label = int(row["label"] == "hate")
    return TrainingExample(
        id=row["id"],
        text=row["text"],
        source="beep",
        label=label,
        target=one_hot(label, len(LABELS)),
        original_label=row["label"],
        language="ko",
    )


def _cases(rows: list[dict[str, Any]]) -> list[TrainingExample]:
    by_number = {row["id"].rpartition("-")[2]: row for row in rows}

    def family(row: dict[str, Any]) -> str:
        while row["ref_case_id"]:
            row = by_number[row["ref_case_id"]]
        return str(row["templ_id"])

    return [_case(row, "hatecheck", family(row), "en") for row in rows]


def _translation(row: dict[str, Any]) -> TrainingExample:
    family = _families().get(row["id"], [row["id"]])[0]
    return _case(row, "multilingual hatecheck", family, CODES[row["lang"]])


def _case(row: dict[str, Any], source: str, family: str, language: str) -> TrainingExample:
    return TrainingExample(
        id=row["id"],
        text=row["text"],
        source=source,
        label=LABELS.index(row["label"]),
        target=one_hot(LABELS.index(row["label"]), len(LABELS)),
        original_label=row["label"],
        family=family,
        group=row["target_group"],
        functionality=row["functionality"],
        language=language,
    )


@lru_cache(maxsize=1)
def _families() -> dict[str, list[str]]:
    """Return the HateCheck families to which each translated case may belong (`training.families`),
    or {} without the file."""
    known = json.loads(FAMILIES.read_bytes()) if FAMILIES.exists() else {}
    families: dict[str, list[str]] = known
    return families


def possible_families(case: TrainingExample) -> set[str]:
    """Return the HateCheck families (groups of related cases) that a training case may belong to. A
    case of the English HateCheck belongs only to its own family."""
    return {case.cluster, *_families().get(case.id, ())}


def split(examples: Sequence[TrainingExample]) -> Split:
    """Split posts in three parts by label, and HateCheck cases by family, together with the cases'
    translations.

    Every second post for training or calibration is accompanied by a copy with words deleted or
    masked. Only every second English case is used for training, since cases of a family are near
    copies."""
    train, calibration, held_back = [], [], []
    for source in POSTS:
        posts = split_by_label([example for example in examples if example.source == source])
        train += with_parts(posts.train)
        calibration += with_parts(posts.calibration)
        held_back += posts.held_back
    cases = [example for example in examples if example.source not in POSTS]
    chosen, others = split_by_group((c for c in cases if c.source == "hatecheck"), HELD_BACK_SHARE)
    some, _ = split_by_group(others, CALIBRATION_SHARE)
    closed, watched_families = ({case.cluster for case in part} for part in (chosen, some))
    held_back_cases, watched = [], []
    for case in cases:
        possible = possible_families(case)
        if case.language in NEVER_TRAINED or case.cluster in closed:
            held_back_cases.append(case)
        elif case.cluster in watched_families and not possible & closed:
            watched.append(case)
        elif not possible & (closed | watched_families):
            train += [case] if case.source != "hatecheck" else _half([case])
    return Split(
        train=train,
        calibration=calibration,
        held_back=held_back,
        held_back_cases=held_back_cases,
        watched=watched,
    )


def with_parts(posts: Sequence[TrainingExample]) -> list[TrainingExample]:
    """Return the posts, followed by a copy of every second post with words deleted or masked. The
    post's id determines the operator and the share of words kept."""
    parts = []
    for post in _half(posts):
        operator, kept = PART_CELLS[crc32(post.id.encode()) // 2 % len(PART_CELLS)]
        part = perturb_example(post, operator, kept, draw=0, mask=E5_MASK)
        parts.append(replace(part, id=post.id + PART, family=post.cluster))
    return [*posts, *parts]


def _half(examples: Iterable[TrainingExample]) -> list[TrainingExample]:
    return [example for example in examples if crc32(example.id.encode()) % 2]


def evaluate(ask: Ask, parts: Split, temperature: float) -> HateMetrics:
    """Evaluate the model on held-back posts and on held-back template families."""
    posts = [post for post in parts.held_back if post.source == "hatexplain"]
    cases = [case for case in parts.held_back_cases if case.source == "hatecheck"]
    of_posts, of_cases = to_predictions(ask(posts), posts), to_predictions(ask(cases), cases)
    called = of_cases.logits.argmax(axis=1).astype(np.float64)
    harmless = np.flatnonzero(of_cases.labels == 0).tolist()
    by_language: dict[str, list[TrainingExample]] = defaultdict(list)
    for example in [*parts.held_back, *parts.held_back_cases]:
        kind = "posts" if example.source in POSTS else "templates"
        by_language[f"{example.language}, {kind}"].append(example)
    return HateMetrics(
        held_back=_quality(of_posts, temperature),
        parts=part_calibration(ask, posts, LABELS, temperature, mask=E5_MASK),
        called_hateful=hit_rates(
            [post.original_label for post in posts],
            of_posts.logits.argmax(axis=1).astype(np.float64),
            of_posts.keys,
        ),
        hatecheck=_quality(of_cases, temperature),
        languages={
            name: language_quality(ask, by_language[name], temperature)
            for name in sorted(by_language, key=lambda name: name.split(", ")[::-1])
        },
        false_positives=hit_rates(
            [cases[number].group or NO_GROUP for number in harmless],
            called[harmless],
            [of_cases.keys[number] for number in harmless],
        ),
        functionalities=hit_rates(
            [str(case.functionality) for case in cases], of_cases.right, of_cases.keys
        ),
        sources=_sizes(parts),
    )


def _sizes(parts: Split) -> dict[str, dict[str, int]]:
    """Return the number of texts per source and data split, without copies that have deleted or
    masked words."""
    groups = {
        "trained": parts.train,
        "watched": [*parts.calibration, *parts.watched],
        "held back": [*parts.held_back, *parts.held_back_cases],
    }
    return {
        source: {
            name: sum(one.source == source and not one.id.endswith(PART) for one in group)
            for name, group in groups.items()
        }
        for source in SOURCES
    }


def language_quality(
    ask: Ask, examples: Sequence[TrainingExample], temperature: float
) -> LanguageQuality:
    """Measure the model's quality on the examples of one language, as whole texts and with words
    deleted or masked. Both labels must occur."""
    found = to_predictions(ask(examples), examples)
    whole = _calibration(found, temperature)
    in_parts = None
    parts = [
        perturb_example(example, operator, kept, draw=0, mask=E5_MASK)
        for example in examples
        for operator, kept in CELLS
    ]
    if examples[0].language not in UNSPACED:
        in_parts = _calibration(to_predictions(ask(parts), parts), temperature)
    hateful = int(found.labels.sum())
    recalls = [found.right[found.labels == label].mean() for label in range(len(LABELS))]
    return LanguageQuality(
        rows=len(examples),
        hateful=hateful,
        accuracy=hit_share(found.right, found.keys),
        majority_accuracy=max(hateful, len(examples) - hateful) / len(examples),
        balanced_accuracy=float(np.mean(recalls)),
        auroc=roc_auc(np.column_stack([found.probabilities(temperature)[:, 1], found.labels])),
        ece=whole.ece,
        floor=whole.floor,
        parts_ece=in_parts and in_parts.ece,
        parts_floor=in_parts and in_parts.floor,
    )


def _calibration(found: LabelPredictions, temperature: float) -> measures.Calibration:
    hateful = softmax(found.logits / temperature)[:, 1]
    return measures.calibration(hateful, found.labels.astype(np.float64))


def _quality(found: LabelPredictions, temperature: float) -> HateQuality:
    hateful = int(found.labels.sum())
    return HateQuality(
        rows=len(found.labels), hateful=hateful, **dict(evaluate_part(found, temperature))
    )


HATE = TrainingTask(
    name="hate",
    labels=LABELS,
    languages=LANGUAGES,
    files=FILES,
    read=read,
    evaluate=evaluate,
    card=render,
    measured=HateMetrics,
    split=split,
    recipe=TrainingConfig(layers=8, epochs=3, learning_rate=6e-4, longest=64, best_epoch=True),
    revision="2.0.0",
)
